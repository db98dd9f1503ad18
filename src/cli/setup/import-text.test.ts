import { expect, test } from "vitest";
import { importText } from "./import-text.ts";

const report = { resources: 2, leases: 1, already: 0, left: [], states: { free: 2 }, unlisted: [] };

test.each([
  [1, "Skipped 1 lease that was imported before"],
  [2, "Skipped 2 leases that were imported before"],
])("importText() counts %d leases that were imported before", (already, line) => {
  expect(importText({ ...report, already }, false)).toBe(
    `Imported 2 resources: 2 free\nImported 1 lease\n${line}`,
  );
});
