/** A forecast begins with the order of the queues as they are. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { thaw } from "../../core/apply/snapshot.ts";
import { acquire, Lending, pool, release } from "../../core/decide/lending.suite.ts";
import { requestView } from "../../core/explain/view.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import { anySpace } from "../../core/model/space.ts";
import type { State } from "../../core/model/state.ts";
import { contestedParts } from "./components.ts";

const pools = [pool("aws", 2), pool("gcp", 5), pool("lab", 3), pool("slots", 9)];

const names = ["a", "b", "c"] as SpaceName[];

const worlds = fc.record({
  weights: fc.array(fc.constantFrom(1, 2, 5), { minLength: 3, maxLength: 3 }),
  steps: fc.array(
    fc.record({
      want: fc.constantFrom("aws", "gcp", "lab", "slots", "aws slots", "gcp:2"),
      space: fc.constantFrom(...names),
      priority: fc.nat(1),
      end: fc.nat(20),
    }),
    { maxLength: 60 },
  ),
});

function positionsIn(state: State, lending: Lending): [string, number][] {
  return Array.from(state.requests.values(), (request): [string, number] => [
    request.id,
    requestView(request, lending.now).position,
  ]);
}

test("each part of a state has the positions of the whole one", () => {
  fc.assert(
    fc.property(worlds, ({ weights, steps }) => {
      const lending = new Lending(...pools);
      const spaces = names.map((name, at) => {
        return { name, policy: { weight: weights[at] ?? 1, quotas: [] } };
      });
      lending.do({ type: "configure", pools, spaces: { ...anySpace, spaces } });
      for (const [at, { want, space, priority, end }] of steps.entries()) {
        lending.do(acquire(`r${at}`, want, { space, priority }));
        const held = [...lending.state.leases.keys()][end];
        if (held !== undefined) lending.do(release(held));
      }
      const parts = contestedParts(lending.state).map((part) => thaw(part));
      const found = parts.flatMap((part) => positionsIn(part, lending));
      expect(new Map(found)).toEqual(new Map(positionsIn(lending.state, lending)));
    }),
  );
});
