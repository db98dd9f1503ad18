import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { drawing } from "./utilisation.ts";

test("the picture in the guide is what the simulator draws", async () => {
  const committed = new URL("../docs/guides/utilisation.svg", import.meta.url);
  const hint = "run: node sim/utilisation.ts > docs/guides/utilisation.svg";
  expect(await readFile(committed, "utf8"), hint).toBe(drawing());
});
