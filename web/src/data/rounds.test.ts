import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Rounds } from "./rounds.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Notes when each read began and was shown, in milliseconds from now. */
function reading() {
  const from = Date.now();
  const log: string[] = [];
  const note = (words: string) => void log.push(`${words} ${Date.now() - from}`);
  const reader = (name: string, tookMs: number) => ({
    read: async () => {
      note(`read ${name}`);
      await new Promise((resolve) => setTimeout(resolve, tookMs));
      return () => note(`show ${name}`);
    },
  });
  return { log, reader };
}

test("reads what is due at one moment, and shows all of it when the slowest is done", async () => {
  const { log, reader } = reading();
  const rounds = new Rounds();
  rounds.join(reader("pool", 20));
  rounds.join(reader("leases", 300));
  await vi.advanceTimersByTimeAsync(400);
  expect(log).toEqual(["read pool 0", "read leases 0", "show pool 300", "show leases 300"]);
});

test("does not wait for a read that takes longer than a second", async () => {
  const { log, reader } = reading();
  const rounds = new Rounds();
  rounds.join(reader("pool", 20));
  rounds.join(reader("leases", 2_500));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(log).toEqual(["read pool 0", "read leases 0", "show pool 1000", "show leases 2500"]);
});

test("a late read does not delay the next round of the others", async () => {
  const { log, reader } = reading();
  const rounds = new Rounds();
  const pool = reader("pool", 20);
  rounds.join(pool);
  rounds.join(reader("leases", 2_500));
  await vi.advanceTimersByTimeAsync(1_100);
  rounds.join(pool);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log.slice(2)).toEqual(["show pool 1000", "read pool 1500", "show pool 1520"]);
});

test("waits with the next round for four times as long as the last one took", async () => {
  const { log, reader } = reading();
  const rounds = new Rounds();
  const pool = reader("pool", 200);
  const leases = reader("leases", 200);
  rounds.join(pool);
  await vi.advanceTimersByTimeAsync(100);
  rounds.join(leases);
  await vi.advanceTimersByTimeAsync(300);
  rounds.join(pool);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(log).toEqual([
    "read pool 0",
    "show pool 200",
    "read leases 1000",
    "read pool 1000",
    "show leases 1200",
    "show pool 1200",
  ]);
});

test("does not read what has left", async () => {
  const { log, reader } = reading();
  const rounds = new Rounds();
  const pool = reader("pool", 20);
  rounds.join(pool);
  rounds.leave(pool);
  rounds.join(reader("leases", 20));
  await vi.advanceTimersByTimeAsync(100);
  expect(log).toEqual(["read leases 0", "show leases 20"]);
});
