import fc from "fast-check";
import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const known = ["aws-account", "gcp-project", "slots", "metal"];

test.each<[string, string | undefined, string]>([
  ["aws-acount", "aws-account", "a letter is missing"],
  ["aws-acconut", "aws-account", "two are swapped"],
  ["AWS-Account", "aws-account", "the case differs"],
  ["aws_account", "aws-account", "one differs"],
  ["slot", "slots", "the plural is missing"],
  ["mtl", undefined, "a short name must be close"],
  ["vsphere", undefined, "nothing is close"],
  ["", undefined, "nothing was said"],
])("nearest() of %j is %j, when %s", (name, want) => {
  expect(nearest(name, known)).toBe(want);
});

test("nearest() knows nothing among nothing", () => {
  expect(nearest("aws", [])).toBeUndefined();
});

test("nearest() finds every known name itself", () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1 });
  fc.assert(
    fc.property(names, fc.nat(), (all, pick) => {
      const name = all[pick % all.length] ?? "";
      expect(nearest(name, all)?.toLowerCase()).toBe(name.toLowerCase());
    }),
  );
});

test("nearest() prefers the closest, not the first", () => {
  expect(nearest("abcdef", ["abcxyf", "abcdeg"])).toBe("abcdeg");
});
