import { expect, test } from "vitest";
import type { Instant } from "../core/model/time.ts";
import { SystemEnvironment } from "./environment.ts";

test("now() is whole milliseconds that never go back", () => {
  const environment = new SystemEnvironment();
  let last = environment.now();
  for (let number = 0; number < 10_000; number++) {
    const now = environment.now();
    expect(Number.isSafeInteger(now) && now >= last).toBe(true);
    last = now;
  }
});

test("now() is about the wall clock's time", () => {
  expect(Math.abs(new SystemEnvironment().now() - Date.now())).toBeLessThan(60_000);
});

test("now() never falls behind what has already happened", () => {
  for (let number = 0; number < 1_000; number++) {
    const future = Date.now() + 3_600_000 + number;
    expect(new SystemEnvironment(future).now()).toBeGreaterThanOrEqual(future);
  }
});

test("now() does not follow a wall clock that is set", () => {
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

test("wakeAt() calls back once, not before its time", async () => {
  const environment = new SystemEnvironment();
  const at = (environment.now() + 20) as Instant;
  const keepAlive = setInterval(() => {}, 1_000);
  const woken = await new Promise<Instant>((resolve) => {
    environment.wakeAt(at, () => resolve(environment.now()));
  });
  clearInterval(keepAlive);
  expect(woken).toBeGreaterThanOrEqual(at - 1);
});

test("wakeAt() can be called off, and takes times that no timer can", async () => {
  const environment = new SystemEnvironment();
  let woken = false;
  const wake = () => {
    woken = true;
  };
  environment.wakeAt(environment.now(), wake)();
  const callOff = environment.wakeAt((environment.now() + 2 ** 40) as Instant, wake);
  // A timer that is set later for a later time fires later: had the first been there, it had fired.
  await new Promise<void>((resolve) => setTimeout(resolve, 5));
  callOff();
  expect(woken).toBe(false);
});

test("soon() lets everything that is arriving arrive first", async () => {
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
