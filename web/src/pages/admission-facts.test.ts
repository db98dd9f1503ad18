import { expect, test } from "vitest";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { creditsAt, foundWords, waitingForWord } from "./admission-facts.ts";

const until = "1970-01-01T00:00:10.000Z";

test.each([
  ["before they lapse", 2, until, 9_999, 2],
  ["from then on", 2, until, 10_000, 0],
  ["where there are none", 0, null, 0, 0],
])("creditsAt() %s", (_, credits, lapse, nowMs, want) => {
  const admission = { by: "a check", why: null, found: "room", lookedAt: until };
  expect(creditsAt({ ...admission, credits, until: lapse }, nowMs)).toBe(want);
});

test.each([
  ["room", "found room"],
  ["none", "found no room"],
  ["unknown", "could not tell"],
  ["something new", "something new"],
  [null, ""],
])("foundWords(%j) is %j", (found, want) => {
  expect(foundWords(found)).toBe(want);
});

test("waitingForWord() leaves out who waits for something else, or for another pool's word", () => {
  const request = (holder: string, code: string, pool: string): WaitingRequest => ({
    ...{ id: holder, requestId: null, holder, priority: 0, labels: {}, ttl: null, items: [] },
    ...{ queuedAt: until, waitedSeconds: 1, position: 1, etaSeconds: null, estimate: null },
    reason: { code, pool, message: "" },
  });
  const waiting = waitingForWord(
    [
      request("a", "admission", "kind"),
      request("b", "no_free", "kind"),
      request("c", "admission", "metal"),
    ],
    "kind",
  );
  expect(waiting.map(({ holder }) => holder)).toEqual(["a"]);
});
