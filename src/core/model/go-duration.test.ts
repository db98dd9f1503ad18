import { describe, expect, test } from "vitest";
import { parseGoDuration } from "./go-duration.ts";

const good: Readonly<Record<string, number>> = {
  "0": 0,
  "+0": 0,
  "-0": 0,
  "0s": 0,
  "30m0s": 1_800_000,
  "1h30m": 5_400_000,
  "1.5h": 5_400_000,
  ".5s": 500,
  "1.s": 1_000,
  "-5m": -300_000,
  "+2s": 2_000,
  "300ms": 300,
  "2us": 0.002,
  "2µs": 0.002,
  "2μs": 0.002,
  "1000000ns": 1,
  "2540400h": 9_145_440_000_000,
};

const bad: Readonly<Record<string, string>> = {
  "": 'time: invalid duration ""',
  woooo: 'time: invalid duration "woooo"',
  "-": 'time: invalid duration "-"',
  ".s": 'time: invalid duration ".s"',
  "1m-": 'time: unknown unit "m-" in duration "1m-"',
  "10": 'time: missing unit in duration "10"',
  "1h5": 'time: missing unit in duration "1h5"',
  "1x": 'time: unknown unit "x" in duration "1x"',
  "1d": 'time: unknown unit "d" in duration "1d"',
  "1 s": 'time: unknown unit " s" in duration "1 s"',
  "1toString": 'time: unknown unit "toString" in duration "1toString"',
  "2562048h": 'time: invalid duration "2562048h"',
  'a"\\': 'time: invalid duration "a\\"\\\\"',
  "1é": 'time: unknown unit "\\xc3\\xa9" in duration "1\\xc3\\xa9"',
  "€": 'time: invalid duration "\\xe2\\x82\\xac"',
  "😀": 'time: invalid duration "\\xf0\\x9f\\x98\\x80"',
};

describe("parseGoDuration()", () => {
  test.each(Object.entries(good))("reads %j as %d ms", (text, durationMs) => {
    const read = parseGoDuration(text);
    expect(read).toEqual({ ok: true, durationMs: expect.closeTo(durationMs, 9) });
  });

  test.each(Object.entries(bad))("refuses %j in Go's words: %s", (text, message) => {
    expect(parseGoDuration(text)).toEqual({ ok: false, message });
  });
});
