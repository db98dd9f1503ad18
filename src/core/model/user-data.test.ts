import { describe, expect, test } from "vitest";
import { describeUserDataFault, userDataFault, userDataLimits } from "./user-data.ts";

const long = (length: number) => "s".repeat(length);
const many = (count: number, value = "v") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));

describe("userDataFault()", () => {
  test.each([
    ["nothing", {}],
    ["any other text in a value", { key: "line 1\nline 2\t\u001b[0m\u202e€\u{1f600}" }],
    ["any other text in a name", { "Schlüssel mit Leerzeichen/…": "x" }],
    ["the longest name", { [long(253)]: "x" }],
    ["the longest value", { key: long(16_384) }],
    ["64 keys", many(64)],
    ["64 Ki characters in total", many(4, long(16_384 - 2))],
  ])("accepts %s", (_, entries) => {
    expect(userDataFault(entries)).toBeUndefined();
  });

  test.each([
    ["an empty name", { "": "x" }, { why: "bad_name", max: 253 }],
    ["a name that is too long", { [long(254)]: "x" }, { why: "bad_name", max: 253 }],
    ["NUL in a name", { "a\0b": "x" }, { why: "bad_name", max: 253 }],
    ["a line break in a name", { "a\nb": "x" }, { why: "bad_name", max: 253 }],
    ["DEL in a name", { "a\x7f": "x" }, { why: "bad_name", max: 253 }],
    ["a control of C1 in a name", { "a\u009b": "x" }, { why: "bad_name", max: 253 }],
    ["a line separator in a name", { "a\u2028": "x" }, { why: "bad_name", max: 253 }],
    ["half a character in a name", { "a\ud800": "x" }, { why: "bad_name", max: 253 }],
    ["NUL in a value", { key: "a\0b" }, { why: "value_has_nul", key: "key" }],
    [
      "a value that is too long",
      { key: long(16_385) },
      { why: "value_too_long", key: "key", max: 16_384 },
    ],
    ["65 keys", many(65), { why: "too_many_keys", max: 64 }],
    ["more in total", many(5, long(15_000)), { why: "total_too_long", max: 65_536 }],
  ])("refuses %s", (_, entries, fault) => {
    expect(userDataFault(entries)).toEqual(fault);
  });

  test("does not check again what the resource has already", () => {
    const before = { "bad\nname": "x", nul: "a\0b", huge: long(200_000) };
    expect(userDataFault({ ...before, heartbeat: "" }, before)).toEqual({
      why: "total_too_long",
      max: userDataLimits.totalLengthMax,
    });
    const { huge: _, ...rest } = before;
    expect(userDataFault({ ...rest, more: "y" }, before)).toBeUndefined();
    expect(userDataFault({ ...many(65), k0: "changed" }, many(65))).toBeUndefined();
    expect(userDataFault({ ...before, nul: "c\0d" }, before)).toMatchObject({ key: "nul" });
  });
});

test.each([
  [{ why: "value_has_nul", key: "k" } as const, /"k".*NUL/],
  [{ why: "value_too_long", key: "k", max: 7 } as const, /"k".*more than 7/],
  [{ why: "total_too_long", max: 7 } as const, /more than 7 .*total/],
  [{ why: "too_many_keys", max: 7 } as const, /more than 7 keys/],
  [{ why: "bad_name", max: 7 } as const, /control character/],
])("describeUserDataFault() of %j", (fault, text) => {
  expect(describeUserDataFault(fault)).toMatch(text);
});
