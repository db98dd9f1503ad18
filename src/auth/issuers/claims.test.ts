import fc from "fast-check";
import { expect, test } from "vitest";
import { claimAt, matchesClaim, matchesPattern } from "./claims.ts";

test.each([
  ["refs/heads/main", "refs/heads/main", true],
  ["refs/heads/main", "refs/heads/main2", false],
  ["refs/heads/*", "refs/heads/feature/x", true],
  ["refs/heads/*", "refs/heads", false],
  ["*", "", true],
  ["a*b*c", "abc", true],
  ["a*b*c", "axxbxxc", true],
  ["a*b*c", "acb", false],
  ["ab*ba", "aba", false],
  ["**", "x", true],
  ["a.c", "abc", false],
  ["(a+)+$", "aaaa", false],
  ["Acme", "acme", false],
])("matchesPattern() compares %j with %j: %j", (pattern, text, matches) => {
  expect(matchesPattern(pattern, text)).toBe(matches);
});

test("matchesPattern() agrees with a regular expression", () => {
  const letters = fc.array(fc.constantFrom("a", "b", "*"), { maxLength: 8 });
  const texts = fc.array(fc.constantFrom("a", "b"), { maxLength: 10 });
  fc.assert(
    fc.property(letters, texts, (pattern, text) => {
      const same = new RegExp(`^${pattern.join("").replaceAll("*", ".*")}$`);
      expect(matchesPattern(pattern.join(""), text.join(""))).toBe(same.test(text.join("")));
    }),
  );
});

const claims = {
  "kubernetes.io": { namespace: "ci", serviceaccount: { name: "runner" } },
  "https://example.org/team": "blue",
  groups: ["dev", "ops"],
  verified: true,
  deep: { "a/b": { c: 7 } },
};

test.each([
  ["kubernetes.io/namespace", "ci"],
  ["kubernetes.io/serviceaccount/name", "runner"],
  ["https://example.org/team", "blue"],
  ["deep/a/b/c", 7],
  ["missing", undefined],
  ["kubernetes.io/missing", undefined],
  ["groups/0", undefined],
  ["constructor", undefined],
  ["__proto__/toString", undefined],
])("claimAt() finds %s", (path, value) => {
  expect(claimAt(claims, path)).toEqual(value);
});

test("matchesClaim() takes any element of a list, and no map", () => {
  expect(matchesClaim("op*", claims.groups)).toBe(true);
  expect(matchesClaim("admin", claims.groups)).toBe(false);
  expect(matchesClaim("*", claims["kubernetes.io"])).toBe(false);
  expect(matchesClaim("*", undefined)).toBe(false);
  expect(matchesClaim("*", [])).toBe(false);
  expect(matchesClaim("true", claims.verified)).toBe(true);
});
