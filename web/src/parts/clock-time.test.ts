import { expect, test } from "vitest";
import { barTimes } from "./clock-time.ts";

test("barTimes() are a range, with seconds only where they are needed", () => {
  const at = (...time: [number, number, number]) => new Date().setHours(...time, 0);
  expect(barTimes(at(15, 42, 0), at(15, 43, 0))).toBe("15:42–15:43");
  expect(barTimes(at(15, 42, 20), at(15, 43, 20))).toBe("15:42:20–15:43:20");
  expect(barTimes(at(15, 42, 0), at(15, 42, 20))).toBe("15:42:00–15:42:20");
  const [from, to] = [new Date(2026, 0, 5, 8), new Date(2026, 0, 5, 10)];
  expect(barTimes(from, to)).toBe("Mon 5 Jan 08:00–10:00");
});
