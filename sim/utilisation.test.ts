import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { drawing } from "./utilisation.ts";

test("the chart in the guide equals the simulator's output", async () => {
  const committed = new URL("../docs/guides/utilisation.svg", import.meta.url);
  const hint = "run: node sim/utilisation.ts > docs/guides/utilisation.svg";
  expect(await readFile(committed, "utf8"), hint).toBe(drawing());
});
