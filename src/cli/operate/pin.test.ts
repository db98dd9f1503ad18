import { expect, test } from "vitest";
import { formatStartRate, parseStartRate } from "./pin.ts";

test.each([
  ["2.5", "2.5"],
  ["30/h", "0.5"],
  ["1/30m", "0.0333"],
  ["1/7s", "8.57"],
  ["12345", "12345"],
  ["1000/3m", "333"],
])("formatStartRate() shows %s as %s", (text, want) => {
  expect(formatStartRate(parseStartRate(text))).toBe(want);
});

test.each(["", "x", "1/0s", "2.5/d", "/m", "1//m"])("parseStartRate() refuses %j", (text) => {
  const message = "it is not a rate from 0.001 to 60000 per minute";
  expect(() => parseStartRate(text)).toThrow(message);
});
