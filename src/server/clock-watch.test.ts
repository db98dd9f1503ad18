import pino from "pino";
import { expect, test } from "vitest";
import { Broker } from "../broker/broker.ts";
import { SystemEnvironment } from "../broker/environment.ts";
import { acquire, pool } from "../core/decide/lending.suite.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { ClockWatch } from "./clock-watch.ts";

const dayMs = 24 * 3_600_000;

/** A lease with a lifetime of an hour, then a start with the clock off by this much. */
async function startWithClock(offMs: number) {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const clocks = { wall: () => Date.now() + offMs, monotonic: () => performance.now() };
  const journal = new MemoryJournal();
  const before = await Broker.open(journal, (at) => new SystemEnvironment(at));
  await before.submit({ type: "configure", pools: [pool("aws", 1, { lifetimeMs: 3_600_000 })] });
  await before.submit(acquire("a", "aws"));
  await before.close();
  let watch: ClockWatch | undefined;
  const options = { delayExpiry: true };
  const makeEnvironment = (at: number) => {
    const environment = new SystemEnvironment(at, clocks);
    watch = new ClockWatch(environment, logger);
    return environment;
  };
  const broker = await Broker.open(journal.reopen(), makeEnvironment, options);
  await watch?.checkStart(broker);
  watch?.stop();
  await broker.close();
  return { lines, warnings: watch?.warnings ?? [], aheadMs: watch?.aheadMs ?? 0 };
}

test("checkStart() warns of a clock that is days ahead, with the leases that end by it", async () => {
  const { lines, warnings } = await startWithClock(3 * dayMs);
  expect(warnings).toEqual([
    expect.stringMatching(/^The clock is 3d ahead of the last event\. 1 lease has reached/),
  ]);
  expect(lines).toHaveLength(1);
});

test("checkStart() warns of a clock that is behind the last event", async () => {
  const { lines, warnings, aheadMs } = await startWithClock(-3 * dayMs);
  expect(warnings).toEqual([expect.stringMatching(/^The broker's time is .* ahead of the clock/)]);
  expect(lines).toHaveLength(1);
  expect(Math.round(aheadMs / dayMs)).toBe(3);
});

test.each([0, 3_600_000, -1_000])(
  "checkStart() is silent if the clock is off by %d ms",
  async (off) => {
    expect(await startWithClock(off)).toMatchObject({ lines: [], warnings: [] });
  },
);
