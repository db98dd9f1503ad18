import { expect, test } from "vitest";
import type { Explanation, WaitingRequest } from "../../../src/api/schemas.ts";
import { fullLimitOf, supplyOf } from "./need-facts.ts";

const plain = {
  ...{ pool: "east", state: "free", needed: 1, available: 0, free: 5, size: 8 },
  ...{ nextAt: null, nextBy: null, limits: [{ pool: "api", used: 11, limit: 11 }] },
} as unknown as Explanation["needs"][number];
const reason = (code: string, pool = "east") =>
  ({ code, pool, message: "" }) as WaitingRequest["reason"];
const room = (resource: string, free: number, reservedAhead: number) => ({
  ...{ resource, keptFor: [] },
  short: [{ dimension: "vcpus", asked: 8, free, reservedAhead }],
});

test.each([
  ["a full limit", {}, "limit_reached", "5 of 8 free, but api is full (11/11)"],
  ["its quota", { available: 5 }, "quota_reached", "5 of 8 free, but its quota holds it back"],
  ["its pace", { nextBy: "east" }, "paced", "5 of 8 free, but the pace holds it back"],
  ["a pace above", { nextBy: "api" }, "paced", "5 of 8 free, but the pace of api holds it back"],
  ["those ahead", {}, "behind_others", "5 of 8 free, but requests ahead go first"],
  ["what is held", { free: 0 }, "limit_reached", "none of 8 free"],
  ["a part", { needed: 4, available: 2 }, "no_free", "5 of 8 free, 3 reserved for others"],
  ["nothing of this pool", { available: 5 }, "no_free", "enough is free"],
])("supplyOf() names %s", (_, changes, code, want) => {
  expect(supplyOf({ ...plain, ...changes }, reason(code)).words).toBe(want);
});

test("supplyOf() of shared resources tells what is reserved from what is missing", () => {
  const words = (rooms: unknown) =>
    supplyOf({ ...plain, rooms } as typeof plain, reason("no_room")).words;
  expect(words([room("esx-1", 4, 0)])).toBe("fits on none of 8 now");
  expect(words([room("esx-1", 4, 4), room("esx-2", 0, 8), room("esx-3", 4, 0)])).toBe(
    "would fit on esx-1 and esx-2, reserved for others",
  );
  expect(words([{ ...room("esx-1", 0, 8), unfit: "drained" }])).toBe("fits on none of 8 now");
});

test("fullLimitOf() is a limit only if the request waits for it", () => {
  expect(fullLimitOf(plain, reason("limit_reached"))?.pool).toBe("api");
  expect(fullLimitOf(plain, reason("paced"))).toBeUndefined();
  expect(fullLimitOf(plain, reason("limit_reached", "west"))).toBeUndefined();
});
