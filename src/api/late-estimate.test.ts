import { expect, test } from "vitest";
import { isLaterThanEstimated } from "./late-estimate.ts";

const passed = { p50Seconds: 0, p90Seconds: 0, samples: 20, exact: false };

test.each([
  ["is so when nine in ten would have started", passed, 60, true],
  ["is not so while one in ten is still expected", { ...passed, p90Seconds: 1 }, 60, false],
  ["is not so for a pace or a cooldown that ends now", { ...passed, exact: true }, 60, false],
  ["is not so for a request that has just come", passed, 10, false],
  ["is not so without an estimate", null, 60, false],
])("isLaterThanEstimated() %s", (_, estimate, waitedSeconds, want) => {
  expect(isLaterThanEstimated({ estimate, waitedSeconds })).toBe(want);
});
