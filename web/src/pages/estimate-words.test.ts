import { expect, test } from "vitest";
import { noEstimateWords, startWords } from "./estimate-words.ts";

test.each([
  ["a time to come", { p50Seconds: 40, exact: false }, 7, "in about 40s"],
  ["a time that is over, of the first", { p50Seconds: 0, exact: true }, 1, "now"],
  ["one that is over, by a pace", { p50Seconds: 0, exact: true }, 5, "after #4"],
  ["one that is over, by recorded holds", { p50Seconds: 0, exact: false }, 5, "soon"],
  ["one that is over, in an unknown place", { p50Seconds: 0, exact: false }, undefined, "now"],
])("startWords() of %s", (_, estimate, place, words) => {
  expect(startWords(estimate, place)).toBe(words);
});

test.each([
  ["not_computed", "no_free", 30, "being computed"],
  ["not_computed", "no_free", 31, "no estimate yet"],
  ["too_few_holds", "no_free", 40, "unknown: too few holds recorded"],
  ["no_end_known", "none_usable", 40, "unknown: what it waits for has no known end"],
  ["no_end_known", "admission", 40, "unknown: the capacity check decides"],
  [undefined, "no_free", 40, "unknown so far"],
] as const)("noEstimateWords() of %s, %s after %i s", (noEstimate, code, waitedSeconds, want) => {
  const reason = { code, pool: "aws", message: "" };
  const request = { ...(noEstimate && { noEstimate }), reason, waitedSeconds };
  expect(noEstimateWords(request).words).toBe(want);
});
