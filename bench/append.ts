/**
 * Where should a commit run: on the calling thread, or in a worker while that thread collects the
 * next batch? One workload, no arguments, under a minute: `node bench/append.ts`. The results are
 * in `docs/decisions/0003-journal-on-sqlite.md`. For a slower disk, delay `fdatasync` with a
 * preloaded library.
 *
 * Throughput is measured with full batches, one after the other. Latency is measured with arrivals
 * that another process sends on schedule: a blocked thread could otherwise delay the next arrival
 * and so hide its own delay.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { DurableEvent } from "../src/core/model/event.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import type { Instant } from "../src/core/model/time.ts";
import { type StoredCommit, storedCommit } from "../src/journal/journal.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";
import { openDatabase } from "../src/journal/sqlite-database.ts";
import { sql } from "../src/journal/sqlite-statements.ts";

const warmUpMs = 120;
const measureMs = 260;
/** Engines take turns and the median round counts, because other programs use the disk too. */
const rounds = 3;
/** The cost of HTTP and of the decision. */
const workUs = 12;
const batches = [1, 16, 64, 256];
const arrivalsPerSecond = [1_000, 5_000, 20_000, 40_000];

/** A journal's `append`, on this thread or on another. */
interface Engine {
  append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number>;
  close(): Promise<void>;
}

/** Rounds are ranked by the first figure. */
type Figures = readonly [rankedBy: string, ...rest: string[]];

const engines: Readonly<Record<string, (folder: string) => Promise<Engine>>> = {
  "calling thread": async (folder) => SqliteJournal.open(folder),
  worker: async (folder) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: join(folder, "w.db") });
    await once(worker, "message");
    return {
      async append(head, at, events) {
        worker.postMessage(storedCommit(head, at, events));
        const [written] = await once(worker, "message");
        return written;
      },
      async close() {
        worker.postMessage(null);
        await once(worker, "exit");
      },
    };
  },
};

/** The worker thread of the engine `worker`. */
function serveCommits(): void {
  const database = openDatabase(workerData);
  const insert = database.prepare(sql.insertCommit);
  parentPort?.on("message", (commit: StoredCommit | null) => {
    if (commit) {
      insert.run(commit.seq, commit.at, commit.count, commit.events);
      parentPort?.postMessage(commit.seq + commit.count - 1);
    } else {
      database.close();
      parentPort?.close();
    }
  });
  parentPort?.postMessage("ready");
}

function grant(number: number): DurableEvent {
  return {
    type: "lease-granted",
    id: `01JC5Z7M3Q8W9XKT2B4N${number}` as RequestId,
    ask: {
      holder: "e2e-aws/pull-ci-openshift-installer-1234",
      items: [{ pool: "aws-account" as PoolName, count: 1 }],
      key: "8d1f6f3e-5f7a-4a37-9f0e-2f2d33c0ffee",
      ttlMs: 300_000,
      labels: { job: "e2e-aws", branch: "main" },
    },
    claims: [
      { id: "c1" as ClaimId, resource: `aws-${number % 80}` as ResourceName, fence: number },
    ],
  };
}

/** Busy-waits, because sleeping would free the core for another thread. */
function work(): void {
  const end = performance.now() + workUs / 1_000;
  while (performance.now() < end);
}

/** Batches of one size. The next batch is collected during a commit, if the engine allows it. */
async function measureThroughput(engine: Engine, batch: number): Promise<Figures> {
  const commitUs: number[] = [];
  let [head, first, blockedMs] = [0, 0, 0];
  let underway: Promise<void> = Promise.resolve();
  const startedAt = performance.now() + warmUpMs;
  for (;;) {
    const events: DurableEvent[] = [];
    for (let index = 0; index < batch; index++) {
      work();
      events.push(grant(index));
      if (index % 8 === 0) await setImmediate(); // As requests arrive: a few per turn of the loop.
    }
    await underway;
    const now = performance.now();
    if (now < startedAt) [first, blockedMs, commitUs.length] = [head, 0, 0];
    if (now > startedAt + measureMs) break;
    underway = engine.append(head, Date.now() as Instant, events).then((written) => {
      head = written;
      commitUs.push((performance.now() - now) * 1_000);
    });
    blockedMs += performance.now() - now;
  }
  const count = head - first;
  const perSecond = (count * 1_000) / (performance.now() - startedAt);
  return [perSecond.toFixed(0), ((blockedMs * 1_000) / count).toFixed(1), at(commitUs, 0.5)];
}

/** Sends the instants, in µs of the monotonic clock, at which events were due. */
const feeder = `
  const { writeSync } = require("node:fs");
  const nowUs = () => Number(process.hrtime.bigint()) / 1_000;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const gapUs = 1e6 / Number(process.argv[1]);
  for (let dueUs = nowUs(); ; Atomics.wait(cell, 0, 0, 0.1)) {
    const due = [];
    for (const now = nowUs(); dueUs <= now; dueUs += gapUs) due.push(dueUs);
    if (due.length > 0) writeSync(1, Float64Array.from(due));
  }`;

/** Group commit, as in the broker: a batch is everything that arrived during the last commit. */
async function measureLatency(engine: Engine, rate: number): Promise<Figures> {
  const latencyUs: number[] = [];
  let [head, commits, committing, measuring] = [0, 0, false, false];
  let [waiting, rest]: [number[], Buffer] = [[], Buffer.alloc(0)];
  const commitWaiting = async (): Promise<void> => {
    committing = true;
    await setImmediate(); // Everything that can be read by now belongs to the batch.
    while (waiting.length > 0) {
      const arrivals = waiting;
      waiting = [];
      head = await engine.append(head, Date.now() as Instant, arrivals.map(grantFor));
      const nowUs = Number(process.hrtime.bigint()) / 1_000;
      if (measuring) for (const dueUs of arrivals) latencyUs.push(nowUs - dueUs);
      if (measuring) commits++;
      await setImmediate();
    }
    committing = false;
  };
  const child = spawn(process.execPath, ["-e", feeder, String(rate)]);
  let done: Promise<void> = Promise.resolve();
  child.stdout.on("data", (chunk: Buffer) => {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (; rest.length >= 8; rest = rest.subarray(8)) {
      work();
      waiting.push(rest.readDoubleLE());
    }
    if (!committing) done = commitWaiting();
  });
  await once(child.stdout, "data");
  await setTimeout(warmUpMs);
  measuring = true;
  await setTimeout(measureMs);
  measuring = false;
  child.kill("SIGKILL");
  await once(child, "close");
  await done;
  const batch = (latencyUs.length / commits).toFixed(1);
  return [at(latencyUs, 0.5), at(latencyUs, 0.99), batch];
}

function grantFor(_: number, index: number): DurableEvent {
  return grant(index);
}

function at(samples: readonly number[], share: number): string {
  const sorted = samples.toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(0);
}

async function compare(
  title: readonly string[],
  values: readonly number[],
  measure: (engine: Engine, value: number) => Promise<Figures>,
): Promise<void> {
  printRow(title);
  for (const value of values) {
    const results = new Map(Object.keys(engines).map((name) => [name, [] as Figures[]]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, open] of Object.entries(engines)) {
        const folder = mkdtempSync(join(tmpdir(), "berth-bench-"));
        const engine = await open(folder);
        results.get(name)?.push(await measure(engine, value));
        await engine.close();
        rmSync(folder, { recursive: true });
      }
    }
    for (const [name, figures] of results) {
      const ranked = figures.toSorted(([a], [b]) => Number(a) - Number(b));
      printRow([String(value), name, ...(ranked[rounds >> 1] ?? [])]);
    }
  }
}

function printRow(cells: readonly string[]): void {
  console.log(cells.map((cell) => cell.padStart(16)).join(""));
}

async function compareAll(): Promise<void> {
  for (const otherCore of ["free", "taken"]) {
    const hog = otherCore === "taken" ? spawn(process.execPath, ["-e", "for (;;);"]) : undefined;
    console.log(`\nOther core ${otherCore}; times in µs`);
    await compare(
      ["batch", "engine", "events/s", "blocked/event", "commit p50"],
      batches,
      measureThroughput,
    );
    await compare(
      ["arrivals/s", "engine", "latency p50", "latency p99", "batch"],
      arrivalsPerSecond,
      measureLatency,
    );
    hog?.kill("SIGKILL");
  }
}

if (isMainThread) await compareAll();
else serveCommits();
