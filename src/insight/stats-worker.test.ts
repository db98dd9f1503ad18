import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { brokerOf } from "../broker/test-broker.suite.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import { HistoryFollower } from "./history/follower.ts";
import { HistoryStore } from "./history/store.ts";
import { TooMuchHistory } from "./stats-query.ts";
import { StatsWorker, StatsWorkerBusy, StatsWorkerClosed } from "./stats-worker.ts";

let folder: string;
let worker: StatsWorker;

/** A history file with three leases. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-stats-"));
  const path = join(folder, "history.db");
  const { broker, journal, clock } = await brokerOf([pool("aws", 1)]);
  const follower = new HistoryFollower(HistoryStore.open(path), journal, broker);
  for (const id of ["a", "b", "c"]) {
    await broker.submit(acquire(id, "aws"));
    await clock.advance(60_000);
    await broker.submit(release(id));
  }
  await follower.caughtUp();
  await follower.close();
  worker = new StatsWorker(folder);
});

afterEach(async () => {
  await worker.close();
  rmSync(folder, { recursive: true });
});

const ids = async () =>
  (await worker.ask("page", { filter: {}, limit: 10 })).items.map(({ id }) => id);

describe("StatsWorker", () => {
  test("reads history in its own thread", async () => {
    expect(await ids()).toEqual(["c", "b", "a"]);
    const range = { from: 1_700_000_000_000, to: 1_700_000_240_000, stepMs: 60_000 };
    const { total } = await worker.ask("stats", { range, pool: "aws" });
    expect(total).toMatchObject({ ended: 3, utilisation: 0.75 });
  });

  test("answers many queries at once, and rejects more than its limit", async () => {
    const asked = Array.from({ length: 70 }, () => ids().catch((error: unknown) => error));
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => Array.isArray(answer))).toHaveLength(64);
    expect(answers.at(-1)).toBeInstanceOf(StatsWorkerBusy);
    expect(await ids()).toHaveLength(3);
  });

  test("reports that there is too much to simulate", async () => {
    const whatIf = { from: 0, to: 1_700_000_240_000, pools: [pool("aws", 2)] };
    await expect(worker.ask("simulate", { whatIf, entriesMax: 2 })).rejects.toThrow(TooMuchHistory);
    const found = await worker.ask("simulate", { whatIf, entriesMax: 3 });
    expect(found).toMatchObject({ requests: 3, total: { simulated: { ended: 3 } } });
  });

  test("reports the progress of a simulation, and stops it on an abort", async () => {
    const whatIf = { from: 0, to: 1_700_000_240_000, pools: [pool("aws", 2)], changed: ["aws"] };
    const ask = { whatIf, entriesMax: 3 };
    const shares: number[] = [];
    const found = await worker.ask("simulate", ask, { progress: (done) => shares.push(done) });
    expect(found.requests).toBe(3);
    expect(shares).toEqual([0]);
    const stop = new AbortController();
    const given = worker.ask("simulate", ask, {
      signal: stop.signal,
      progress: () => stop.abort(),
    });
    // A small simulation may end before the thread receives the abort.
    await given.catch((error: unknown) => expect(error).toMatchObject({ name: "AbortError" }));
    expect(await ids()).toHaveLength(3);
  });

  test("does not start an aborted query", async () => {
    const whatIf = { from: 0, to: 1_700_000_240_000, pools: [pool("aws", 2)] };
    const signal = AbortSignal.abort(new Error("gone"));
    const given = worker.ask("simulate", { whatIf, entriesMax: 3 }, { signal });
    await expect(given).rejects.toThrow("gone");
  });

  test("rejects waiting queries when it is closed", async () => {
    const waiting = expect(ids()).rejects.toBeInstanceOf(StatsWorkerClosed);
    await worker.close();
    await waiting;
    await expect(ids()).rejects.toBeInstanceOf(StatsWorkerClosed);
  });
});
