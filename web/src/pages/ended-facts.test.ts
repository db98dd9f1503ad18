import { expect, test } from "vitest";
import { endingWords, endsApart, grantIn } from "./ended-facts.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 17) + seconds * 1_000).toISOString();
const grant = { grantedAt: at(0), timeoutMs: 10_000 };

test.each([
  ["expired", 10.01, grant, "It sent no heartbeat within 10s of its start, and expired"],
  ["expired", 25, grant, "It sent no heartbeat for 10s, and expired"],
  ["expired", 10.01, undefined, "No heartbeat came in time, and it expired"],
  ["lifetime", 10.01, grant, "It reached its max lifetime"],
  ["of a newer server", 1, grant, "It ended (of a newer server)"],
])("endingWords() of %s after %d s", (how, seconds, known, words) => {
  expect(endingWords(how, at(seconds), known)).toBe(words);
});

test("grantIn() finds the start and the timeout, if there is one", () => {
  const granted = (ask: object) => ({ seq: 2, at: at(0), type: "lease-granted", ask });
  const queued = { seq: 1, at: at(0), type: "request-queued" };
  expect(grantIn([granted({ ttlMs: 10_000 }), queued])).toEqual(grant);
  expect(grantIn([granted({ ttlMs: null })])).toEqual({ ...grant, timeoutMs: null });
  // A holder of another space reads less.
  expect(grantIn([{ seq: 2, at: at(0), type: "lease-granted" }])).toBeUndefined();
  expect(grantIn([queued])).toBeUndefined();
});

test.each([
  ["2030-01-01T12:00:00.000Z", "2030-01-01T12:00:03.000Z", true],
  ["2030-01-01T12:00:00.000Z", "2030-01-01T12:00:00.400Z", false],
])("endsApart() of a claim at %s and a lease at %s", (claim, lease, want) => {
  expect(endsApart(claim, lease)).toBe(want);
});
