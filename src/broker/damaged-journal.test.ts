/** A damaged journal is read to the same state, or refused with a message and a hint. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freeze } from "../core/apply/snapshot.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import { JournalDamaged, JournalUnavailable, JournalUnusable } from "../journal/journal.ts";
import { SqliteJournal } from "../journal/sqlite.ts";
import { Broker } from "./broker.ts";
import { HandClock } from "./hand-clock.suite.ts";
import { recover } from "./recovery.ts";

/** Set it for a longer run. */
const flips = Number(process.env["BERTH_FLIPS"] ?? 150);

let parent: string;
/** The folder of a server that was stopped, of one that took no snapshot, and of a killed one. */
const stopped = () => join(parent, "stopped");
const withoutSnapshot = () => join(parent, "without-snapshot");
const killed = () => join(parent, "killed");
let want: string;

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "berth-damage-"));
  await lendSome(stopped(), 0, 40);
  const journal = await lendSome(stopped(), 40, 60, { close: false });
  execFileSync("cp", ["-r", stopped(), killed()]); // A copy by this process would drop our locks.
  await journal.close(); // The broker is not closed, so it takes no snapshot.
  cpSync(stopped(), withoutSnapshot(), { recursive: true });
  want = await stateIn(copyOf(stopped()));
  await takeSnapshot(stopped());
});

afterAll(() => rmSync(parent, { recursive: true }));

async function lendSome(folder: string, from: number, to: number, { close = true } = {}) {
  const journal = SqliteJournal.open(folder);
  const broker = await Broker.open(journal, (notBefore) => new HandClock(notBefore));
  await broker.submit({ type: "configure", pools: [pool("aws", 5), pool("gcp", 3)] });
  for (let number = from; number < to; number++) {
    await broker.submit(acquire(`job-${number}`, number % 3 === 0 ? "aws gcp" : "aws"));
    if (number % 4 !== 0) await broker.submit(release(`job-${number}`));
  }
  if (close) {
    await broker.close();
    await journal.close();
  }
  return journal;
}

async function takeSnapshot(folder: string): Promise<void> {
  const journal = SqliteJournal.open(folder);
  const { state, head, at } = await recover(journal);
  await journal.saveSnapshot({ seq: head, at, state: JSON.stringify(freeze(state)) });
  await journal.close();
}

function copyOf(folder: string): string {
  const copy = mkdtempSync(join(parent, "copy-"));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Everything that a server would continue with. */
async function stateIn(folder: string): Promise<string> {
  const journal = SqliteJournal.open(folder);
  try {
    const { state, head, at } = await recover(journal);
    return JSON.stringify({ head, at, secret: journal.secret, state: freeze(state) });
  } finally {
    await journal.close();
  }
}

/** The refusal, or "same". Throws if the state is another one, or if the error is not for a person. */
async function outcomeIn(folder: string): Promise<string> {
  try {
    expect(await stateIn(folder)).toBe(want);
    return "same";
  } catch (error) {
    if (error instanceof JournalUnusable || error instanceof JournalDamaged) return error.message;
    if (error instanceof JournalUnavailable && error.hint !== undefined) return error.message;
    throw error;
  }
}

function flipBit(path: string, position: number, bit: number): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, position);
  byte[0] = (byte[0] ?? 0) ^ (1 << bit);
  writeSync(file, byte, 0, 1, position);
  closeSync(file);
}

function zero(path: string, from: number, bytes: number): void {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(bytes), 0, bytes, from);
  closeSync(file);
}

describe.each([
  { name: "the database of a stopped server", folder: stopped, file: "journal.db" },
  { name: "the database without a snapshot", folder: withoutSnapshot, file: "journal.db" },
  { name: "the database of a killed server", folder: killed, file: "journal.db" },
  { name: "the write-ahead log", folder: killed, file: "journal.db-wal" },
  { name: "the mark of the last event", folder: killed, file: "journal.head" },
])("$name", ({ folder, file }) => {
  test("is read to the same state or refused after any flipped bit", async () => {
    const size = statSync(join(folder(), file)).size;
    const stepBytes = Math.max(1, size / flips);
    const outcomes = new Set<string>();
    for (let position = 0; position < size; position += stepBytes) {
      const copy = copyOf(folder());
      const byte = Math.floor(position);
      flipBit(join(copy, file), byte, byte % 8);
      const outcome = await outcomeIn(copy).catch((error: unknown) => {
        throw new Error(`bit ${byte % 8} of byte ${byte}`, { cause: error });
      });
      outcomes.add(outcome);
      rmSync(copy, { recursive: true });
    }
    expect(outcomes.size).toBeGreaterThan(file === "journal.head" ? 0 : 1);
  }, 600_000);

  test("is read to the same state or refused after any sector became zero", async () => {
    const size = statSync(join(folder(), file)).size;
    for (let sector = 0; sector * 512 < size; sector += Math.ceil(size / 512 / 40)) {
      const copy = copyOf(folder());
      zero(join(copy, file), sector * 512, Math.min(512, size - sector * 512));
      const outcome = outcomeIn(copy);
      await outcome.catch((error: unknown) => {
        throw new Error(`sector ${sector}`, { cause: error });
      });
      rmSync(copy, { recursive: true });
    }
  }, 120_000);

  test("is read to the same state or refused after it was cut anywhere", async () => {
    const size = statSync(join(folder(), file)).size;
    for (let length = 0; length < size; length += Math.max(1, Math.floor(size / 20))) {
      const copy = copyOf(folder());
      truncateSync(join(copy, file), length);
      await outcomeIn(copy).catch((error: unknown) => {
        throw new Error(`cut at ${length}`, { cause: error });
      });
      rmSync(copy, { recursive: true });
    }
  }, 120_000);
});

test.each([
  { files: ["journal.db-wal"], lost: "missing at its end" },
  { files: ["journal.db-wal", "journal.db-shm"], lost: "missing at its end" },
  { files: ["journal.db"], lost: "missing at its end" },
  { files: ["journal.db", "journal.db-wal", "journal.db-shm"], lost: "missing at its end" },
])("a start without $files of a killed server is refused", async ({ files, lost }) => {
  const copy = copyOf(killed());
  for (const file of files) rmSync(join(copy, file));
  expect(await outcomeIn(copy)).toContain(lost);
  rmSync(join(copy, "journal.head"));
  expect(existsSync(join(copy, "journal.head"))).toBe(false);
  await stateIn(copy); // The way out that the hint names.
});

test("the state of a killed server is the state of a stopped one", async () => {
  expect(await outcomeIn(copyOf(killed()))).toBe("same");
  expect(readFileSync(join(killed(), "journal.head"), "utf8")).toMatch(/^event \d+ checksum \d+ /);
});
