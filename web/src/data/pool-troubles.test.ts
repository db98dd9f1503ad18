import { expect, test } from "vitest";
import { checkFails, waitsTooLong } from "./pool-troubles.ts";

test.each([
  ["a check that fails", "admission_check_fails", [true, false]],
  ["a request that waits longer than usual", "waits_long", [false, true]],
  ["a resource in quarantine", "quarantined", [false, false]],
])("the figures of a pool that attention names for %s", (_, code, want) => {
  const troubles = new Map([["aws", [code]]]);
  expect([checkFails("aws", troubles), waitsTooLong("aws", troubles)]).toEqual(want);
  expect([checkFails("gcp", troubles), waitsTooLong("gcp", troubles)]).toEqual([false, false]);
});
