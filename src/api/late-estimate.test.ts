import { expect, test } from "vitest";
import { isLaterThanEstimated, isOverdue } from "./late-estimate.ts";

const queuedAt = "2026-11-17T12:00:00.000Z";
const passed = { p50Seconds: 0, p90Seconds: 0, samples: 20, exact: false };

test.each([
  ["is so when nine in ten would have started", passed, 60, true],
  ["is not so while one in ten is still expected", { ...passed, p90Seconds: 1 }, 60, false],
  ["is not so for a pace or a cooldown that ends now", { ...passed, exact: true }, 60, false],
  ["is not so for a request that has just come", passed, 10, false],
  ["is not so without an estimate", null, 60, false],
])("isOverdue() %s", (_, estimate, waitedSeconds, want) => {
  expect(isOverdue({ estimate, queuedAt, waitedSeconds })).toBe(want);
  // An older server does not tell the first estimate.
  expect(isLaterThanEstimated({ estimate, queuedAt, waitedSeconds })).toBe(want);
});

const first = { p50At: "2026-11-17T12:00:10.000Z", p90At: "2026-11-17T12:00:15.000Z" };

test.each([
  ["is so once the first estimate is over, whatever is expected now", 16, true],
  ["is not so before", 15, false],
])("isLaterThanEstimated() %s", (_, waitedSeconds, want) => {
  const estimate = { p50Seconds: 700, p90Seconds: 900, samples: 0, exact: true, first };
  expect(isLaterThanEstimated({ estimate, queuedAt, waitedSeconds })).toBe(want);
});
