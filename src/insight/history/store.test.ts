import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JournalUnusable } from "../../journal/journal.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-store-"));
  await SqliteJournal.open(folder).close();
  path = join(folder, "journal.db");
});

afterEach(() => rmSync(folder, { recursive: true }));

function meddle(sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

describe("HistoryStore.open()", () => {
  test("makes its tables in the journal's file once, and writes nothing from then on", () => {
    HistoryStore.open(path).close();
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE"); // Nobody else can write now.
    const store = HistoryStore.open(path);
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });

  test("adds what an older Berth did not write down, and keeps what it did", () => {
    HistoryStore.open(path).close();
    meddle(`
      ALTER TABLE history DROP COLUMN waited_for;
      UPDATE history_place SET version = 1, last_number = 1;
      INSERT INTO history VALUES
        (1, 'a', '1', 'job', 'default', 'aws', 'aws-1', 1, 0, 10, 1, 20, 30, 'released');`);
    const store = HistoryStore.open(path);
    const { items } = new HistoryReader(store.database).page({}, 10);
    expect(items).toMatchObject([{ id: "a", grantedAt: 20, how: "released", waitedFor: null }]);
    store.close();
  });

  test("leaves the tables of a newer Berth alone, unless it is to begin anew", () => {
    HistoryStore.open(path).close();
    meddle("UPDATE history_place SET version = 99");
    expect(() => HistoryStore.open(path)).toThrow(JournalUnusable);
    expect(() => HistoryStore.open(path)).toThrow("version 99");
    const store = HistoryStore.open(path, { anew: true });
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });

  test("does not keep the journal from being opened: an older Berth goes on with it", async () => {
    HistoryStore.open(path).close();
    await SqliteJournal.open(folder).close();
  });
});
