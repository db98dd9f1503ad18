import { expect, test } from "vitest";
import type { AuditEntry } from "../../../src/api/audit-schemas.ts";
import type { RateChange } from "../../../src/api/schemas.ts";
import { configurationMarks, isAwayIn, outageMarks, rateMarks, startMarks } from "./mark-facts.ts";

const at = "2031-02-03T04:05:06.000Z";
const seconds = Date.parse(at) / 1_000;

test("rateMarks() says what the rate is from then on, and why", () => {
  const change = { at, rate: 2.5, was: 5, cause: "configured", by: null } as RateChange;
  const others = ["throttled", "clean"].map((cause) => ({ ...change, cause }));
  const unpinned = { ...change, rate: null, cause: "unpinned", by: "ada" };
  expect(rateMarks([change, ...others, unpinned])).toEqual([
    { at: seconds, text: "2.5 starts per minute: configured" },
    { at: seconds, text: "no pace: unpinned by ada" },
  ]);
});

test("configurationMarks() has one mark for all entries of a moment", () => {
  const entry = { at, action: "pool-defined" } as AuditEntry;
  expect(configurationMarks([entry, entry])).toEqual([
    { at: seconds, text: "the configuration changed" },
  ]);
});

const later = (addedSeconds: number) => new Date((seconds + addedSeconds) * 1_000).toISOString();
const away = { what: "server", name: null, from: at, to: later(90) } as const;

test("outageMarks() says what was away, and for how long", () => {
  const hub = { what: "hub", name: "east", from: at, to: null } as const;
  expect(outageMarks([away, hub], (seconds + 5) * 1_000)).toEqual([
    { at: seconds, until: seconds + 90, text: "the server did not run for 1m30s" },
    { at: seconds, until: seconds + 5, text: "hub east did not answer for 5s" },
  ]);
});

test("isAwayIn() is true if nothing could be lent in the whole time", () => {
  const ms = (addedSeconds: number) => (seconds + addedSeconds) * 1_000;
  expect(isAwayIn([away], ms(10), ms(80))).toBe(true);
  expect(isAwayIn([away], ms(80), ms(100))).toBe(false);
  expect(isAwayIn([{ ...away, what: "hub", name: "east" }], ms(10), ms(80))).toBe(false);
  expect(isAwayIn([{ ...away, to: null }], ms(80), ms(9_000))).toBe(true);
});

test("startMarks() has no second mark for a restart", () => {
  expect(startMarks(later(91), [])).toEqual([{ at: seconds + 91, text: "the server started" }]);
  expect(startMarks(later(91), [away])).toEqual([]);
  expect(startMarks(later(900), [away])).toHaveLength(1);
});
