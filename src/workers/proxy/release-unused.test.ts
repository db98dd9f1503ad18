import { expect, test } from "vitest";
import { parseUnusedCount, quote, untilStable } from "./release-unused.ts";

test("untilStable() ignores an empty and a half-written file", async () => {
  const texts = ["", "1", "12", "12", "13"];
  const read = async () => texts.shift() ?? "";
  expect(await untilStable(read, async () => {})).toBe("12");
});

test("untilStable() throws what the wait throws, so that an abort ends it", async () => {
  const aborted = new Error("aborted");
  const wait = () => Promise.reject(aborted);
  await expect(untilStable(async () => "1", wait)).rejects.toBe(aborted);
});

test.each([
  ["0", 0],
  ["13", 13],
  ["14", undefined],
  ["-1", undefined],
  ["1e1", undefined],
  ["many", undefined],
])("parseUnusedCount() reads %j of 13 leases as %j", (text, count) => {
  expect(parseUnusedCount(text, 13)).toBe(count);
});

test.each([
  ["many", '"many"'],
  ["\u001b[31mred", '"\\u001b[31mred"'],
  ["a\nb\u009bc", '"a\\nb?c"'],
  ["x".repeat(100), `"${"x".repeat(40)}"`],
])("quote() makes %j harmless for a terminal", (text, quoted) => {
  expect(quote(text)).toBe(quoted);
});
