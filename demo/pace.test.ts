import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("new jobs pause longer and longer while calls fail, and soon less when they work", () => {
  const pace = new Pace();
  expect(pace.mayAsk(0)).toBe(true);
  pace.failed(0);
  pace.failed(0); // At the same time: that counts once.
  expect([pace.mayAsk(499), pace.mayAsk(500)]).toEqual([false, true]);
  pace.failed(500);
  expect([pace.mayAsk(1_499), pace.mayAsk(1_500)]).toEqual([false, true]);
  for (let now = 1_500; now < 600_000; now += 30_000) pace.failed(now);
  expect([pace.mayAsk(600_000), pace.mayAsk(640_000)]).toEqual([false, true]);
  for (let time = 0; time < 6; time++) pace.worked();
  pace.failed(640_000);
  expect(pace.mayAsk(642_000)).toBe(true);
});
