import { expect, test } from "vitest";
import type { Instant } from "../core/model/time.ts";
import { SystemEnvironment } from "./environment.ts";

test("now() returns whole milliseconds that never decrease", () => {
  const environment = new SystemEnvironment();
  let last = environment.now();
  for (let number = 0; number < 10_000; number++) {
    const now = environment.now();
    expect(Number.isSafeInteger(now) && now >= last).toBe(true);
    last = now;
  }
});

test("now() starts at the time of the wall clock", () => {
  expect(Math.abs(new SystemEnvironment().now() - Date.now())).toBeLessThan(60_000);
});

test("now() is never earlier than the last event in the journal", () => {
  for (let number = 0; number < 1_000; number++) {
    const future = Date.now() + 3_600_000 + number;
    expect(new SystemEnvironment(future).now()).toBeGreaterThanOrEqual(future);
  }
});

test("now() runs slower while it is ahead of the wall clock, and then with it", () => {
  let elapsedMs = 500;
  const clocks = { wall: () => 1_000_000 + elapsedMs, monotonic: () => elapsedMs };
  const environment = new SystemEnvironment(1_000_500 + 60_000, clocks);
  expect([environment.now(), environment.aheadMs()]).toEqual([1_060_500, 60_000]);
  expect(environment.startGapMs).toBe(-60_000);
  elapsedMs += 10_000;
  expect([environment.now(), environment.aheadMs()]).toEqual([1_069_500, 59_000]);
  elapsedMs += 590_000;
  expect(environment.aheadMs()).toBe(0);
  elapsedMs += 100_000;
  expect(environment.aheadMs()).toBe(0);
});

test("now() ignores later changes of the wall clock", () => {
  const environment = new SystemEnvironment();
  const real = Date.now;
  try {
    const before = environment.now();
    Date.now = () => 0;
    expect(environment.now()).toBeGreaterThanOrEqual(before);
    Date.now = () => real() + 3_600_000;
    expect(environment.now() - before).toBeLessThan(3_600_000);
  } finally {
    Date.now = real;
  }
});

test("wakeAt() calls back at the given time or later", async () => {
  const environment = new SystemEnvironment();
  const at = (environment.now() + 20) as Instant;
  const keepAlive = setInterval(() => {}, 1_000);
  const woken = await new Promise<Instant>((resolve) => {
    environment.wakeAt(at, () => resolve(environment.now()));
  });
  clearInterval(keepAlive);
  expect(woken).toBeGreaterThanOrEqual(at - 1);
});

test("wakeAt() can be cancelled, and accepts times beyond the range of setTimeout", async () => {
  const environment = new SystemEnvironment();
  let woken = false;
  const wake = () => {
    woken = true;
  };
  environment.wakeAt(environment.now(), wake)();
  const cancel = environment.wakeAt((environment.now() + 2 ** 40) as Instant, wake);
  // This timer fires after the first one would have fired, if it had not been cancelled.
  await new Promise<void>((resolve) => setTimeout(resolve, 5));
  cancel();
  expect(woken).toBe(false);
});

test("soon() runs after the pending microtasks", async () => {
  const order: string[] = [];
  const ran = new Promise<void>((resolve) => {
    new SystemEnvironment().soon(() => {
      order.push("soon");
      resolve();
    });
  });
  queueMicrotask(() => order.push("microtask"));
  await ran;
  expect(order).toEqual(["microtask", "soon"]);
});
