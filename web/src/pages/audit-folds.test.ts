import { expect, test } from "vitest";
import type { AuditEntry } from "../../../src/api/audit-schemas.ts";
import { withWholeConfigurations } from "./audit-folds.ts";

const slice = (number: number, event: number, through: number, at: string): AuditEntry => ({
  ...{ number, at, event, way: "config", previous: "", hash: "", pools: [`pool-${number}`] },
  action: "configuration-changed",
  detail: { through, changes: { "resource-added": through - event + 1 } },
});

test("the slices of one configuration are one entry", () => {
  const at = "2026-11-18T02:00:18.000Z";
  const drain: AuditEntry = { ...slice(4, 700, 700, at), action: "resource-changed" };
  const [first, second, ...more] = withWholeConfigurations([
    drain,
    slice(3, 513, 600, at),
    slice(2, 257, 512, at),
    slice(1, 1, 256, at),
  ]);
  expect(first).toBe(drain);
  expect(more).toEqual([]);
  expect(second).toMatchObject({ number: 3, event: 1, pools: ["pool-1", "pool-2", "pool-3"] });
  expect(second?.detail).toEqual({ through: 600, changes: { "resource-added": 600 } });
});

test("two configurations stay two, also if nothing happened between them", () => {
  const entries = [
    slice(2, 257, 260, "2026-11-18T03:00:18.000Z"),
    slice(1, 1, 256, "2026-11-18T02:00:18.000Z"),
  ];
  expect(withWholeConfigurations(entries)).toEqual(entries);
});
