import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JournalUnusable } from "../journal/journal.ts";
import { SqliteJournal } from "../journal/sqlite.ts";
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
