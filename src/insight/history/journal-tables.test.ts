/** Uses a data folder that an older Berth has written; `test/fixtures/README.md` describes it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { recover } from "../../broker/recovery.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import { readPast } from "../what-if/from-data.ts";
import { noChanges } from "./fold.ts";
import { HistoryFollower } from "./follower.ts";
import { historyPath } from "./history-file.ts";
import { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

const fixture = new URL("../../../test/fixtures/history-in-journal/", import.meta.url).pathname;
const written = JSON.parse(readFileSync(join(fixture, "history.json"), "utf8")) as {
  readonly id: string;
  readonly claim: string | null;
  readonly endedAt: string;
  readonly waitedFor: string | null;
}[];

let folder: string;
let journalPath: string;
const moved: number[] = [];
const failed: unknown[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-move-"));
  cpSync(fixture, folder, { recursive: true });
  journalPath = join(folder, "journal.db");
  moved.length = 0;
  failed.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(): HistoryStore {
  return HistoryStore.open(historyPath(folder), {
    journalPath,
    moved: (entries) => moved.push(entries),
    failed: (cause) => failed.push(cause),
  });
}

/** Opens, reads and closes. */
function contents(store = open()) {
  const reader = new HistoryReader(store.database);
  const { lastNumber, members } = store.load();
  const found = {
    entries: reader.page({}, 1_000).items,
    open: [...reader.open()],
    sizes: [...reader.sizes()],
    ...{ lastNumber, members, seq: store.seq },
  };
  store.close();
  return found;
}

/** The history tables in the journal file, read directly. */
function oldContents() {
  using database = new DatabaseSync(journalPath, { readOnly: true });
  const reader = new HistoryReader(database);
  return { entries: reader.page({}, 1_000).items, open: [...reader.open()], seq: reader.seq };
}

function meddle(sql: string): void {
  using database = new DatabaseSync(journalPath);
  database.exec(sql);
}

function oldTables(): unknown[] {
  using database = new DatabaseSync(journalPath, { readOnly: true });
  return database.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'history*'").all();
}

const asWritten = (entries: readonly { id: string; claim: string | null; endedAt: number }[]) =>
  entries.map(({ id, claim, endedAt }) => `${id} ${claim} ${new Date(endedAt).toISOString()}`);

describe("HistoryStore.open() on a folder with history in the journal file", () => {
  test("moves everything, also entries whose events were pruned, and drops the old tables", () => {
    const before = oldContents();
    const after = contents();
    expect(after).toMatchObject(before);
    expect(asWritten(after.entries)).toEqual(
      written.map(({ id, claim, endedAt }) => `${id} ${claim} ${endedAt}`),
    );
    expect(after.entries.map(({ waitedFor }) => waitedFor)).toEqual(
      written.map(({ waitedFor }) => waitedFor),
    );
    expect(after).toMatchObject({ seq: 126, lastNumber: 49, open: { length: 3 } });
    expect([...after.members].sort()).toEqual([
      ["aws-1", "aws"],
      ["aws-2", "aws"],
      ["gcp-1", "gcp"],
    ]);
    expect(after.sizes).toMatchObject([
      { pool: "aws", size: 2 },
      { pool: "gcp", size: 1 },
    ]);
    expect([moved, failed, oldTables()]).toEqual([[49], [], []]);
  });

  test("does not change the journal, and the next start has nothing to do", async () => {
    const before = contents();
    const journal = SqliteJournal.open(folder);
    const { state } = await recover(journal);
    expect([journal.head, state.leases.size]).toEqual([126, 3]);
    expect(contents()).toEqual(before);
    expect(moved).toEqual([49]);
    await journal.close();
  });

  test("follows the journal from there, with each entry once", async () => {
    const journal = SqliteJournal.open(folder);
    const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
    const follower = new HistoryFollower(open(), journal, broker, {
      ...{ journalId: "this one", retentionMs: 1e14 },
    });
    const held = await broker.read(({ leases }) => [...leases.keys()]);
    for (const id of held) await broker.submit({ type: "release", id });
    await follower.caughtUp();
    await follower.close();
    const { entries, open: left } = contents();
    expect(left).toEqual([]);
    expect(asWritten(entries.slice(-written.length))).toEqual(
      written.map(({ id, claim, endedAt }) => `${id} ${claim} ${endedAt}`),
    );
    const last = entries.slice(0, -written.length).map(({ id }) => id);
    expect(last.sort()).toEqual([...held].sort());
    await broker.close();
    await journal.close();
  });

  test("changes nothing if it fails half-way, and can be repeated", () => {
    const before = oldContents();
    meddle("ALTER TABLE history_size RENAME TO away"); // The last table that is copied.
    expect(() => open()).toThrow("no such table");
    meddle("ALTER TABLE away RENAME TO history_size");
    expect(oldContents()).toEqual(before);
    expect(contents()).toMatchObject(before);
    expect([moved, oldTables()]).toEqual([[49], []]);
  });

  test("loses nothing if it crashes between copying and dropping", () => {
    const before = oldContents();
    {
      // No process can drop a table while another one has the write lock.
      using other = new DatabaseSync(journalPath);
      other.exec("BEGIN IMMEDIATE");
      expect(contents()).toMatchObject(before);
      expect(failed).toHaveLength(1);
    }
    expect(oldTables()).not.toEqual([]);
    expect(contents()).toMatchObject(before);
    expect([moved, oldTables()]).toEqual([[49, 0], []]);
  });

  test("does not use old tables again that could not be dropped", () => {
    using other = new DatabaseSync(journalPath);
    other.exec("BEGIN IMMEDIATE");
    const store = open();
    const touched = new Set(store.load().open.keys());
    store.save(200, { ...noChanges(), touched }, new Map());
    store.close();
    other.exec("ROLLBACK");
    expect(contents()).toMatchObject({ seq: 200, open: [], entries: { length: 49 } });
    expect(oldTables()).toEqual([]);
  });

  test("accepts tables of the first version, which had fewer columns", () => {
    meddle("ALTER TABLE history DROP COLUMN waited_for; UPDATE history_place SET version = 1");
    const { entries } = contents();
    expect(entries).toHaveLength(49);
    expect(new Set(entries.map(({ waitedFor }) => waitedFor))).toEqual(new Set([null]));
  });

  test("does not touch tables of an unknown version, except on a rebuild", () => {
    meddle("UPDATE history_place SET version = 99");
    expect(() => open()).toThrow("unknown version 99");
    expect(oldTables()).not.toEqual([]);
    const store = HistoryStore.open(historyPath(folder), { journalPath, anew: true });
    expect(contents(store)).toMatchObject({ entries: [], seq: 0 });
    expect(oldTables()).toEqual([]);
  });

  test("adds entries that an older Berth wrote after a downgrade, each once", () => {
    const first = contents();
    cpSync(join(fixture, "journal.db"), journalPath);
    // It had the last four leases of its journal and followed some more events.
    meddle(`
      DELETE FROM history WHERE number <= 45;
      UPDATE history SET number = number - 45;
      INSERT INTO history SELECT number + 4, 'new-' || number, claim, holder, space, pool, resource,
        count, priority, asked_at, asked_seq, granted_at, ended_at + 5, how, waited_for FROM history;
      DELETE FROM history_open;
      UPDATE history_place SET seq = 130, last_number = 8`);
    const { entries, open: left, lastNumber, seq } = contents();
    expect(entries.slice(-49)).toEqual(first.entries);
    expect(entries.slice(0, -49).map(({ number, id }) => [number, id])).toEqual([[50, "new-4"]]);
    expect([left, lastNumber, seq]).toEqual([[], 50, 130]);
  });
});

describe("readPast() of a folder with history in the journal file", () => {
  test("reads it there, and also after it was moved", async () => {
    const before = await readPast(folder, 1e14);
    expect([...before.source.ended]).toHaveLength(49);
    open().close();
    const after = await readPast(folder, 1e14);
    expect([...after.source.ended]).toEqual([...before.source.ended]);
    expect([...after.source.open]).toEqual([...before.source.open]);
    expect([...after.source.sizes]).toEqual([...before.source.sizes]);
    expect((await readPast(journalPath, 1e14)).source).toEqual(after.source);
  });

  test("ignores an empty history file", async () => {
    writeFileSync(historyPath(folder), "");
    expect([...(await readPast(folder, 1e14)).source.ended]).toHaveLength(49);
  });
});
