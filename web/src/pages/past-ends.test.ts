import { expect, test } from "vitest";
import { endsOf, howOf } from "./past-ends.ts";

test.each([
  ["", "", undefined],
  ["released", "", "released"],
  ["operators", "", "revoked,removed"],
  ["left", "", "cancelled,removed,disconnected,abandoned,unsatisfiable,undecidable"],
  ["abandoned", "", "abandoned"],
  ["failed", "clean", "failed"],
  ["left", "clean", undefined],
  ["failed", "", undefined],
])("howOf(%j, %j) is %j", (value, purpose, how) => {
  expect(howOf(value, purpose)).toBe(how);
});

test("endsOf() cleanings has none of requests", () => {
  expect(endsOf("clean").map(({ words }) => words)).not.toContain("before a start");
});
