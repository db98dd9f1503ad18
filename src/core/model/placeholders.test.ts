import { expect, test } from "vitest";
import { fillPlaceholders, placeholdersIn } from "./placeholders.ts";

const place = (name: string) => `$${`{${name}}`}`;
const values: Readonly<Record<string, string | number>> = {
  name: "c1",
  workers: 3,
  evil: place("name"),
};
const fill = (text: Parameters<typeof fillPlaceholders>[0]) =>
  fillPlaceholders(text, (name) => values[name] ?? "?");

test("placeholdersIn() finds every place, however deep, and none that is escaped", () => {
  const value = { a: [place("x"), { b: `1 ${place("y")} ${place("z")}` }], c: `$${place("no")}` };
  expect(placeholdersIn(value)).toEqual(["x", "y", "z"]);
});

test.each([
  [place("workers"), 3],
  [`v${place("workers")}`, "v3"],
  [`$${place("workers")}`, place("workers")],
  [`a $${place("workers")} ${place("name")}`, `a ${place("workers")} c1`],
  [
    [place("name"), null, 1],
    ["c1", null, 1],
  ],
  // A value brings no places with it, and keys are never filled.
  [`${place("evil")}!`, `${place("name")}!`],
  [{ [place("name")]: place("evil") }, { [place("name")]: place("name") }],
])("fillPlaceholders() turns %j into %j", (value, want) => {
  expect(fill(value)).toEqual(want);
});
