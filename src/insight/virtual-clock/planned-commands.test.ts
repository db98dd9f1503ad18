import fc from "fast-check";
import { expect, test } from "vitest";
import type { Command } from "../../core/model/command.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { type Instant, never } from "../../core/model/time.ts";
import { PlannedCommands } from "./planned-commands.ts";

const named = (name: string): Command => ({ type: "release", id: name as RequestId });

test("PlannedCommands returns commands by time, and those of the same time in the order of adding", () => {
  const steps = fc.array(fc.oneof(fc.nat(20), fc.constant("take" as const)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const planned = new PlannedCommands();
      let model: { at: number; command: Command }[] = [];
      for (const [order, step] of all.entries()) {
        if (step !== "take") {
          const command = named(`${order}`);
          planned.add(step as Instant, command);
          model.push({ at: step, command });
          model.sort((a, b) => a.at - b.at); // The sort is stable.
        } else if (model.length > 0) {
          expect(planned.take()).toBe(model[0]?.command);
          model = model.slice(1);
        }
        expect(planned.nextAt).toBe(model[0]?.at ?? never);
      }
    }),
  );
});

test("PlannedCommands throws if there are no commands", () => {
  expect(() => new PlannedCommands().take()).toThrow("nothing is planned");
});
