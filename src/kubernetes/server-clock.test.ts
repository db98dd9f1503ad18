import { expect, test } from "vitest";
import { ServerClock } from "./server-clock.ts";

const noon = Date.parse("2026-11-15T12:00:00Z");
const date = (ms: number) => new Date(ms).toUTCString();

test("ServerClock knows the time to within a second after one reply", () => {
  const clock = new ServerClock();
  clock.heard(date(noon), 5_000, 5_100);
  expect(clock.atLeastMs(5_100)).toBe(noon);
  expect(clock.atMostMs(5_000)).toBe(noon + 1_000);
});

test("ServerClock becomes more precise with every reply", () => {
  const clock = new ServerClock();
  clock.heard(date(noon), 5_000, 5_010);
  clock.heard(date(noon + 1_000), 5_200, 5_210); // So the first reply was late in its second.
  expect(clock.atMostMs(6_000) - clock.atLeastMs(6_000)).toBeLessThan(1_000);
  expect(clock.atLeastMs(5_210)).toBe(noon + 1_000);
});

test("ServerClock allows for the delay of a reply", () => {
  const clock = new ServerClock();
  clock.heard(date(noon), 0, 30_000);
  expect(clock.atLeastMs(30_000)).toBe(noon);
  expect(clock.atMostMs(30_000)).toBe(noon + 31_000);
});

test("ServerClock starts again when the clock of the server was set", () => {
  const clock = new ServerClock();
  clock.heard(date(noon), 0, 10);
  clock.heard(date(noon - 7_200_000), 1_000, 1_010);
  expect(clock.atLeastMs(1_010)).toBe(noon - 7_200_000);
});

test("ServerClock uses the time of this machine before the first reply", () => {
  const clock = new ServerClock();
  clock.heard(undefined, 0, 10);
  clock.heard("soon", 0, 10);
  const before = Date.now();
  expect(clock.atLeastMs()).toBeGreaterThanOrEqual(before);
});
