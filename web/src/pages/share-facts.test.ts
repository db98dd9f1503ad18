import { expect, test } from "vitest";
import type { Space } from "../../../src/api/space-schemas.ts";
import { dimensionOf, sharesOf } from "./share-facts.ts";

const space = (name: string, weight: number, held: number, quota?: number): Space => ({
  ...{ name, weight, share: 0, leases: 0, waiting: 0, waitingMax: null },
  holds: held === 0 ? [] : [{ pool: "aws", dimension: null, held, capacity: 12 }],
  quotas:
    quota === undefined
      ? []
      : [{ pool: "aws", dimension: null, held, max: quota, cohort: null, heldBy: [] }],
});

test("sharesOf() has what is held beside the part of the weight", () => {
  const spaces = [
    space("web", 1, 3),
    space("payments", 2, 6, 8),
    space("idle", 1, 0, 2),
    space("none", 9, 0),
  ];
  expect(sharesOf("aws", spaces)).toEqual([
    { name: "payments", weight: 2, held: 6, capacity: 12, share: 0.5, fair: 0.5, quota: 8 },
    { name: "web", weight: 1, held: 3, capacity: 12, share: 0.25, fair: 0.25, quota: null },
    { name: "idle", weight: 1, held: 0, capacity: 12, share: 0, fair: 0.25, quota: 2 },
  ]);
  expect(sharesOf("other", spaces)).toEqual([]);
  expect(dimensionOf("aws", spaces)).toBe("");
});
