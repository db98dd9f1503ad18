import { expect, test } from "vitest";
import { lifeMs } from "./lent-access.ts";

const hour = 3_600_000;
const now = Date.parse("2026-01-01T00:00:00Z");
const at = (ms: number) => new Date(now + ms).toISOString();

test.each([
  ["as long as it was asked for", at(hour), now + hour, hour],
  ["shorter, if less was granted", at(hour / 2), now + hour, hour / 2],
  [
    "as long as it was asked for, by an API server whose clock is ahead",
    at(4 * hour),
    now + hour,
    hour,
  ],
  ["the same by one whose clock is behind", at(-hour), now + hour, hour],
  ["the same if nobody says", undefined, now + hour, hour],
  ["ten minutes at least", at(600_000), now + 1_000, 600_000],
])("access lasts %s", (_, expiresAt, untilMs, want) => {
  expect(lifeMs(expiresAt, untilMs, now)).toBe(want);
});
