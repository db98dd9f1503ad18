import { expect, test } from "vitest";
import { usageBars } from "./usage-bars.ts";

test.each([
  [0, 120, "........"],
  [1, 120, "#......."],
  [48, 120, "###....."],
  [119, 120, "#######."],
  [120, 120, "########"],
  [150, 120, "########"],
  [0, 0, "........"],
])("usageBars() shows %s of %s as %s", (used, capacity, want) => {
  const text = usageBars([{ dimension: "vcpus", used, capacity }], false);
  expect(text).toBe(`vcpus ${want} ${used}/${capacity}`);
});
