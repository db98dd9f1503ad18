import { expect, test } from "vitest";
import { parseQuantity } from "./quantity.ts";

test.each([
  ["0", 0],
  ["3", 3],
  ["1.5", 1.5],
  [".5", 0.5],
  ["5.", 5],
  ["250m", 0.25],
  ["100m", 0.1],
  ["9m", 0.009],
  ["500u", 0.0005],
  ["2000n", 0.000002],
  ["4k", 4_000],
  ["128M", 128_000_000],
  ["2G", 2_000_000_000],
  ["1T", 1e12],
  ["1P", 1e15],
  ["1E", 1e18],
  ["64Ki", 65_536],
  ["12000Mi", 12_582_912_000],
  ["7.5Gi", 8_053_063_680],
  ["1Ti", 1_099_511_627_776],
  ["1Pi", 2 ** 50],
  ["1Ei", 2 ** 60],
  ["1e3", 1_000],
  ["1E3", 1_000],
  ["12e-1", 1.2],
  ["15982821376", 15_982_821_376],
  [4, 4],
])("parseQuantity() reads %s", (text, want) => {
  expect(parseQuantity(text)).toBe(want);
});

test.each(["", "m", "1 Gi", "1gi", "1KI", "1K", "1e", "Infinity", "1Mib", "0x10", "1,5"])(
  "parseQuantity() rejects %j instead of returning 0",
  (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  },
);
