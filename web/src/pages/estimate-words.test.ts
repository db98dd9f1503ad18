import { expect, test } from "vitest";
import { noEstimateWords, startWords } from "./estimate-words.ts";

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
  ["not_computed", "no_free", "being computed"],
  ["too_few_holds", "no_free", "unknown so far"],
  ["no_end_known", "none_usable", "unknown"],
  ["no_end_known", "admission", "unknown: the capacity check decides"],
  [undefined, "no_free", "unknown so far"],
] as const)("noEstimateWords() of %s, %s", (noEstimate, code, want) => {
  const reason = { code, pool: "aws", message: "" };
  expect(noEstimateWords({ ...(noEstimate && { noEstimate }), reason }).words).toBe(want);
});
