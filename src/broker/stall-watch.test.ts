import { expect, test } from "vitest";
import { StallWatch } from "./environment.ts";
import { HandClock } from "./hand-clock.suite.ts";

test("check() reports a pause that is longer than the limit, once", async () => {
  const clock = new HandClock();
  let stalls = 0;
  const watch = new StallWatch(clock, 2_000, () => stalls++);
  await clock.advance(60_000);
  expect(stalls).toBe(0);
  await clock.stall(2_001);
  expect(stalls).toBe(1);
  await clock.stall(2_000);
  expect(stalls).toBe(1);
  watch.stop();
});

test("stop() stops the timer, also when the callback calls it", async () => {
  const clock = new HandClock();
  let stalls = 0;
  const watch = new StallWatch(clock, 2_000, () => {
    stalls += 1;
    watch.stop();
  });
  await clock.stall(60_000);
  await clock.stall(60_000);
  expect(stalls).toBe(1);
});
