import { expect, test } from "vitest";
import { noEstimateWords, startLabel, startWords } from "./estimate-words.ts";

test.each([
  ["a time to come", { p50Seconds: 40, exact: false }, 7, "in about 40s"],
  ["a time that is over, of the first", { p50Seconds: 0, exact: true }, 1, "any moment"],
  ["one that is over, by a pace", { p50Seconds: 0, exact: true }, 5, "after #4"],
  ["one that is over, by recorded holds", { p50Seconds: 0, exact: false }, 5, "soon"],
  [
    "one that is over, in an unknown place",
    { p50Seconds: 0, exact: false },
    undefined,
    "any moment",
  ],
])("startWords() of %s", (_, estimate, place, words) => {
  expect(startWords(estimate, place)).toBe(words);
});

test.each([
  ["not_computed", 30, "being computed"],
  ["not_computed", 31, "no estimate yet"],
  ["too_few_holds", 40, "unknown: too few holds recorded"],
  ["no_end_known", 40, "unknown: what it waits for has no known end"],
  ["admission", 40, "unknown: the capacity check decides"],
  [undefined, 40, "unknown so far"],
] as const)("noEstimateWords() of %s after %i s", (noEstimate, waitedSeconds, want) => {
  const request = { ...(noEstimate && { noEstimate }), waitedSeconds };
  expect(noEstimateWords(request).words).toBe(want);
});

test.each([
  ["being computed", "not_computed", false, undefined],
  ["after #4", "not_computed", true, "Starts"],
  ["unknown", "too_few_holds", false, "Start"],
] as const)("startLabel() before %s", (_, noEstimate, isNew, want) => {
  expect(startLabel({ estimate: null, noEstimate }, isNew)).toBe(want);
});
