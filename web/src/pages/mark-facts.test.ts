import { expect, test } from "vitest";
import type { AuditEntry } from "../../../src/api/audit-schemas.ts";
import type { RateChange } from "../../../src/api/schemas.ts";
import { configurationMarks, rateMarks } from "./mark-facts.ts";

const at = "2031-02-03T04:05:06.000Z";
const seconds = Date.parse(at) / 1_000;

test("rateMarks() says what the rate is from then on, and why", () => {
  const change = { at, rate: 2.5, was: 5, cause: "throttled", by: null } as RateChange;
  expect(rateMarks([change, { ...change, rate: null, cause: "unpinned", by: "ada" }])).toEqual([
    { at: seconds, text: "2.5 starts per minute: throttled" },
    { at: seconds, text: "no pace: unpinned by ada" },
  ]);
});

test("configurationMarks() has one mark for all entries of a moment", () => {
  const entry = { at, action: "pool-defined" } as AuditEntry;
  expect(configurationMarks([entry, entry])).toEqual([
    { at: seconds, text: "the configuration changed" },
  ]);
});
