import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { formatData } from "./listing.ts";

/** Everything that a terminal may obey or hide, except the line breaks of the format itself. */
const obeyed = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "\u009b31m",
    "\u061c",
    "a\nb",
    "\n",
    ...["\uffff", "\u00a0", "\u3000"],
    ...["<<", "=", "on", "No", "~", "12:30:45", "2026-01-01", "0b11", "1_000", "0o7", "017"],
    "a\n\n",
    "a \n",
    "a\n ",
    "a: \u202eb",
    "- \u{e0041}",
    "\u2028",
    "é 日本 🚢",
  ),
);
const values = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom("k\u009b", "k", "<<", "=", "y", "017")),
  fc.oneof(texts, fc.integer(), fc.array(texts)),
  { noNullPrototype: true },
);

describe.each(["json", "yaml"] as const)("formatData() as %s", (output) => {
  test("has no character that a terminal obeys, and reads back as the same value", async () => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const text = await formatData(value, output);
        expect(text.replaceAll("\n", "")).not.toMatch(obeyed);
        expect(output === "json" ? JSON.parse(text) : parse(text)).toEqual(value);
        // Many readers know only YAML 1.1.
        if (output === "yaml") expect(parse(text, { version: "1.1" })).toEqual(value);
      }),
    );
  });
});

test("formatData() leaves ordinary texts as they are", async () => {
  const value = { holder: "e2e/42", note: "first line\nsecond line\n" };
  expect(await formatData(value, "yaml")).toBe(
    "holder: e2e/42\nnote: |\n  first line\n  second line",
  );
});
