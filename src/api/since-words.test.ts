import { expect, test } from "vitest";
import { sinceWords } from "./since-words.ts";

test.each([
  ["waits_long", 1, "waiting for"],
  ["waits_long", 2, "the oldest waiting for"],
  ["quota_reached_long", 1, "the oldest request waiting for"],
  ["quarantined", 1, "for"],
  ["quarantined", 4, "the oldest for"],
])("sinceWords() of %s of %i is %s", (code, count, want) => {
  expect(sinceWords(code, count)).toBe(want);
});
