import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JournalUnusable } from "../../journal/journal.ts";
import { HistoryStore } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-store-"));
  path = join(folder, "history.db");
});

afterEach(() => rmSync(folder, { recursive: true }));

function meddle(sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

describe("HistoryStore.open()", () => {
  test("makes its tables once, and writes nothing from then on", () => {
    HistoryStore.open(path).close();
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE"); // Nobody else can write now.
    const store = HistoryStore.open(path);
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });

  test("makes a file that nobody else may read", () => {
    HistoryStore.open(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("leaves the tables of a newer Berth alone, unless it is to begin anew", () => {
    HistoryStore.open(path).close();
    meddle("PRAGMA user_version = 99");
    expect(() => HistoryStore.open(path)).toThrow(JournalUnusable);
    expect(() => HistoryStore.open(path)).toThrow("version 99");
    const store = HistoryStore.open(path, { anew: true });
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });

  test("leaves the database of another program alone", () => {
    meddle("CREATE TABLE theirs (a)");
    expect(() => HistoryStore.open(path)).toThrow("the database of another program");
    using other = new DatabaseSync(path);
    expect(other.prepare("SELECT name FROM sqlite_schema").all()).toMatchObject([
      { name: "theirs" },
    ]);
  });

  test("refuses a damaged file, and makes a new one only when told to", () => {
    writeFileSync(path, "this is no database, whatever its name says".repeat(100));
    expect(() => HistoryStore.open(path)).toThrow(JournalUnusable);
    const store = HistoryStore.open(path, { anew: true });
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });
});
