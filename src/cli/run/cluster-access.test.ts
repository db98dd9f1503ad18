import { expect, test } from "vitest";
import { renewalMs } from "./cluster-access.ts";

const now = Date.parse("2026-11-17T12:00:00Z");

test.each([
  ["that ends in a minute", "2026-11-17T12:01:00Z", 40_000],
  ["that ends in an hour", "2026-11-17T13:00:00Z", 180_000],
  ["that has ended, by this clock", "2026-11-17T11:00:00Z", 10_000],
  ["that ends tomorrow, by this clock, which may be behind", "2026-11-18T12:00:00Z", 180_000],
])("access %s is read again in time", (_, expiresAt, delayMs) => {
  expect(renewalMs(expiresAt, now)).toBe(delayMs);
});
