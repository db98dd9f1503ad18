import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { aRequest } from "../../client/scripted-server.suite.ts";
import { WaitingLog } from "./waiting-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;

/** A log whose lines are kept, and a clock in hand. */
function started() {
  const lines: string[] = [];
  const log = new WaitingLog((text) => void lines.push(text.trimEnd()));
  return { log, lines };
}

test("WaitingLog says at once where one stands, with the estimate", () => {
  const { log, lines } = started();
  log.show(aRequest({ waitedSeconds: 130, position: 3, etaSeconds: 420 }));
  expect(lines).toEqual([
    "waiting 2m10s · position 3 · about 7m · The only one of aws is held; 1 ahead of you",
  ]);
  log.end();
});

test("WaitingLog tells a change once a minute at the most, and then the latest", () => {
  const { log, lines } = started();
  log.show(aRequest({ position: 9 }));
  vi.advanceTimersByTime(10_000);
  log.show(aRequest({ position: 8 }));
  vi.advanceTimersByTime(10_000);
  log.show(aRequest({ position: 7 }));
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(minuteMs);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("position 7");
  log.end();
});

test("WaitingLog keeps quiet while nothing changes, but for five minutes at the most", () => {
  const { log, lines } = started();
  log.show(aRequest());
  for (let minutes = 1; minutes <= 4; minutes++) {
    vi.advanceTimersByTime(minuteMs);
    log.show(aRequest({ etaSeconds: minutes }));
  }
  expect(lines).toHaveLength(1);
  vi.advanceTimersByTime(minuteMs);
  expect(lines).toHaveLength(2);
  log.end();
});

test("WaitingLog tells of trouble once, and of its end", () => {
  const { log, lines } = started();
  log.trouble(new Error("Cannot reach the server"));
  log.trouble(new Error("Cannot reach the server"));
  log.show(aRequest());
  expect(lines.slice(0, 2)).toEqual([
    "berth: Cannot reach the server; trying again",
    "berth: The server answers again",
  ]);
  log.end();
});

test("WaitingLog says nothing more after its end", () => {
  const { log, lines } = started();
  log.show(aRequest());
  log.show(aRequest({ position: 1 }));
  log.end();
  vi.advanceTimersByTime(60 * minuteMs);
  expect(lines).toHaveLength(1);
});
