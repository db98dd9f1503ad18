import { expect, test } from "vitest";
import { importText } from "./import-text.ts";

const report = { resources: 2, leases: 1, already: 0, left: [], states: { free: 2 }, unlisted: [] };

test.each([
  [1, "Left 1 lease that was carried over before"],
  [2, "Left 2 leases that were carried over before"],
])("importText() counts %d that it has already", (already, line) => {
  expect(importText({ ...report, already }, false)).toBe(
    `Carried over 2 resources: 2 free\nCarried over 1 lease\n${line}`,
  );
});
