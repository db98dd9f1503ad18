import { expect, test } from "vitest";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import {
  admissionLead,
  admissionStatus,
  admissionWord,
  answersOf,
  answerWords,
  creditsAt,
  foundText,
  nextCheckWords,
  waitingForAdmission,
} from "./admission-facts.ts";

const until = "1970-01-01T00:00:10.000Z";

test.each([
  ["before they expire", 2, until, 9_999, 2],
  ["after they expired", 2, until, 10_000, 0],
  ["if there are none", 0, null, 0, 0],
])("creditsAt() %s", (_, credits, lapse, nowMs, want) => {
  const admission = { by: "a check", why: null, found: "room", lookedAt: until, nextLookAt: null };
  expect(creditsAt({ ...admission, credits, until: lapse }, nowMs)).toBe(want);
});

test.each([
  ["it found no capacity", "none", 0, 1, false, "closed"],
  ["it fails", "unknown", 0, 1, false, "closed"],
  ["it fails and nobody waits", "unknown", 0, 0, false, "closed"],
  ["it found some", "room", 0, 1, true, "open"],
  ["some credits are left", "none", 2, 1, true, "open"],
  ["nobody waits for it", "none", 0, 0, true, "when needed"],
])(
  "admissionWord() if %s is in the words of the card",
  (_, found, credits, waiting, open, word) => {
    const admission = {
      by: "a check",
      why: null,
      found,
      lookedAt: until,
      nextLookAt: null,
      credits,
      until,
    };
    const { value, aside } = admissionWord(admission, waiting, 0);
    expect(aside ?? value).toBe(word);
    const card = admissionStatus({ found, credits, waiting });
    expect([card.open, card.words.includes(word)]).toEqual([open, true]);
  },
);

test.each([
  ["room", "capacity found"],
  ["none", "no capacity found"],
  ["unknown", "check failed"],
  ["something new", "something new"],
  [null, ""],
])("foundText(%j) is %j", (found, want) => {
  expect(foundText(found)).toBe(want);
});

test("waitingForAdmission() leaves out requests that wait for something else or for another pool", () => {
  const request = (holder: string, code: string, pool: string): WaitingRequest => ({
    ...{ id: holder, requestId: null, holder, priority: 0, labels: {}, ttl: null, items: [] },
    ...{ queuedAt: until, waitedSeconds: 1, position: 1, etaSeconds: null, estimate: null },
    reason: { code, pool, message: "" },
  });
  const waiting = waitingForAdmission(
    [
      request("a", "admission", "kind"),
      request("b", "no_free", "kind"),
      request("c", "admission", "metal"),
    ],
    "kind",
  );
  expect(waiting.map(({ holder }) => holder)).toEqual(["a"]);
});

test.each([
  ["room", 1, 0, /^The check has found capacity/],
  ["none", 0, 2, /^2 requests wait although 4 are free: .* They start by themselves/s],
  ["none", 0, 1, /^1 request waits although 4 are free: .* It starts by itself/],
  ["none", 0, 0, /^The check runs once a request waits for nothing else/],
  ["room", 0, 1, /^1 request waits: others have taken what the check found/],
  ["unknown", 0, 1, /^Nothing is lent until the check works again; 1 request waits for it\. Look/],
])("admissionLead() of %s with %i credits and %i waiting", (found, credits, waiting, want) => {
  expect(admissionLead({ found, credits, waiting, free: 4, beforeCheck: 0 })).toMatch(want);
});

test.each([
  [1, /^1 waits for a free resource\. The check runs once/],
  [8, /^8 wait for a free resource\. The check runs once/],
])("admissionLead() while %i wait for a free resource", (beforeCheck, want) => {
  const facts = { found: "room", credits: 0, waiting: 0, free: 0, beforeCheck };
  expect(admissionLead(facts)).toMatch(want);
});

test("answersOf() has one row for answers in a row that say the same, since the first of them", () => {
  const event = (second: number, type: string, why?: string) => {
    return { seq: second, at: `2026-01-01T00:00:0${second}Z`, type, ...(why && { why }) };
  };
  const events = [
    event(5, "pool-admitted"),
    event(4, "pool-admitted"),
    event(3, "pool-withheld", "too little CPU"),
    event(2, "pool-withheld", "the check failed"),
  ];
  expect(answersOf(events)).toEqual([
    { at: "2026-01-01T00:00:04Z", found: true, why: "", times: 2 },
    { at: "2026-01-01T00:00:03Z", found: false, why: "too little CPU", times: 1 },
    { at: "2026-01-01T00:00:02Z", found: false, why: "the check failed", times: 1 },
  ]);
});

test.each([
  [{ found: true, why: "" }, "capacity"],
  [{ found: false, why: "too little CPU remains: 4000m needed, 2000m free" }, "no capacity"],
  [{ found: false, why: "the check failed: the API server cannot be reached" }, "check failed"],
])("answerWords() of %j: %s", (answer, words) => {
  expect(answerWords(answer)).toBe(words);
});

test.each([
  ["a request waits for it", { credits: 0, waiting: 1 }, "in 12s"],
  ["nobody waits for it", { credits: 0, waiting: 0 }, ""],
  ["it may still lend", { credits: 1, waiting: 1 }, ""],
])("nextCheckWords() if %s", (_, facts, want) => {
  const admission = { by: "", why: null, found: "none", lookedAt: until, credits: 0, until: null };
  const next = { ...admission, nextLookAt: "1970-01-01T00:00:22.000Z" };
  expect(nextCheckWords(next, facts, 10_000)).toBe(want);
  expect(nextCheckWords(next, facts, 22_000)).toBe(want && "any moment");
  expect(nextCheckWords({ ...next, nextLookAt: null }, facts, 0)).toBe("");
});
