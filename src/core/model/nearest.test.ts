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

test("nearest() finds the same as a plain table of all changes", () => {
  const names = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c", "-"), maxLength: 9 }), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(
      names,
      fc.nat(),
      fc.nat(9),
      fc.constantFrom("", "c", "ab"),
      (all, pick, at, typed) => {
        const [meant = ""] = all.slice(pick % all.length);
        const name = meant.slice(0, at) + typed + meant.slice(at + 1);
        const limit = Math.min(3, Math.max(1, Math.floor(name.length / 2)));
        const [best] = all
          .map((known) => ({ known, distance: changesBetween(name, known) }))
          .sort((one, other) => one.distance - other.distance);
        const want = best !== undefined && best.distance <= limit ? best.known : undefined;
        expect(nearest(name, all)).toBe(want);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("nearest() finds a name among a hundred thousand", () => {
  const all = Array.from({ length: 100_000 }, (_, index) => `machine-${index}`);
  expect(nearest("machnie-99999", all)).toBe("machine-99999");
});

/**
 * The distance by its definition: letters inserted, deleted, replaced, or swapped with a neighbour.
 */
function changesBetween(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, row) => [row]);
  const cell = (row: number, column: number) => table[row]?.[column] ?? column;
  for (let row = 1; row <= a.length; row++) {
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const cost = Math.min(
        cell(row - 1, column) + 1,
        cell(row, column - 1) + 1,
        cell(row - 1, column - 1) + (same ? 0 : 1),
        row > 1 && column > 1 && swapped ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      table[row]?.push(cost);
    }
  }
  return cell(a.length, b.length);
}
