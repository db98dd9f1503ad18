import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { aRequest } from "../../client/scripted-server.suite.ts";
import { WaitingLog } from "./waiting-log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minuteMs = 60_000;

/** Starts a log and collects its lines. */
function started() {
  const lines: string[] = [];
  const log = new WaitingLog((text) => void lines.push(text.trimEnd()));
  return { log, lines };
}

test("WaitingLog prints the position and the estimate at once", () => {
  const { log, lines } = started();
  log.show(aRequest({ waitedSeconds: 130, position: 3, etaSeconds: 420 }));
  expect(lines).toEqual([
    "waiting 2m10s · position 3 · about 7m · The only one of aws is held; 1 ahead",
  ]);
  log.end();
});

test("WaitingLog prints the latest change, at most one line per minute", () => {
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

test("WaitingLog prints a line after five minutes without a change", () => {
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

test("WaitingLog prints the first error of an outage, and the recovery", () => {
  const { log, lines } = started();
  log.retrying(new Error("Cannot reach the server"));
  log.retrying(new Error("Cannot reach the server"));
  log.show(aRequest());
  expect(lines.slice(0, 2)).toEqual([
    "berth: Cannot reach the server; retrying",
    "berth: The server answers again",
  ]);
  log.end();
});

test("WaitingLog prints nothing after end()", () => {
  const { log, lines } = started();
  log.show(aRequest());
  log.show(aRequest({ position: 1 }));
  log.end();
  vi.advanceTimersByTime(60 * minuteMs);
  expect(lines).toHaveLength(1);
});
