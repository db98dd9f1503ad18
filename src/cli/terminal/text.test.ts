import { expect, test } from "vitest";
import { cutTo, padTo, plain, printableJson, shellQuoted, widthOf } from "./text.ts";

const dangerous: Record<string, [text: string, want: string]> = {
  "an escape sequence": ["a\u001b[2Jb", "a\ufffd[2Jb"],
  "a C1 control": ["a\u009b2Jb", "a\ufffd2Jb"],
  "a line break": ["a\r\nb", "a  b"],
  "a change of direction": ["a\u202eb", "a\ufffdb"],
  "a mark of direction": ["a\u061cb\u200fc", "a\ufffdb\ufffdc"],
  "invisible characters": ["a\u00adb\u{e0041}c", "a\ufffdb\ufffdc"],
  "half a character": ["a\ud800b", "a\ufffdb"],
  nothing: ["naïve 日本 🚢", "naïve 日本 🚢"],
};
test.each(Object.entries(dangerous))("plain() replaces %s", (_, [text, want]) => {
  expect(plain(text)).toBe(want);
});

const widths: [string, number][] = [
  ["abc", 3],
  ["naïve", 5],
  ["nai\u0308ve", 5],
  ["日本", 4],
  ["🚢", 2],
  ["⠋ ░█▒…·", 7],
];
test.each(widths)("widthOf(%j) is %i columns", (text, want) => {
  expect(widthOf(text)).toBe(want);
});

const cuts: [text: string, width: number, want: string][] = [
  ["abcdef", 6, "abcdef"],
  ["abcdef", 5, "abcd…"],
  ["日本日本", 6, "日本…"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
];
test.each(cuts)("cutTo(%j, %i) is %j", (text, width, want) => {
  expect(cutTo(text, width)).toBe(want);
  expect(widthOf(want)).toBeLessThanOrEqual(width);
});

test("padTo() aligns by columns, not by characters", () => {
  expect(padTo("日本", 6)).toBe("日本  ");
  expect(padTo("7", 3, "right")).toBe("  7");
});

const words: [text: string, want: string][] = [
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["acc-1 acc-2", "'acc-1 acc-2'"],
  ["", "''"],
  ["it's $HOME `x`", "'it'\\''s $HOME `x`'"],
];
test.each(words)("shellQuoted(%j) is %s", (text, want) => {
  expect(shellQuoted(text)).toBe(want);
});

test("printableJson() escapes what a terminal would obey, and loses nothing", () => {
  const value = { "k\u009b": "a\u001b[2J\u009b2J\u061c\u202e\u{e0041}\ud800\u2028 日本 🚢\n" };
  const text = printableJson(value, 2);
  expect(text).toBe(
    '{\n  "k\\u009b": "a\\u001b[2J\\u009b2J\\u061c\\u202e\\udb40\\udc41\\ud800\\u2028 日本 🚢\\n"\n}',
  );
  expect(JSON.parse(text)).toEqual(value);
});
