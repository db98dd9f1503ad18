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
  test("creates its tables once, and writes nothing afterwards", () => {
    HistoryStore.open(path).close();
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE"); // No other process can write now.
    const store = HistoryStore.open(path);
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });

  test("creates a file that only its owner may read", () => {
    HistoryStore.open(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("does not touch tables of a newer Berth, except on a rebuild", () => {
    HistoryStore.open(path).close();
    meddle("PRAGMA user_version = 99");
    expect(() => HistoryStore.open(path)).toThrow(JournalUnusable);
    expect(() => HistoryStore.open(path)).toThrow("version 99");
    const store = HistoryStore.open(path, { anew: true });
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });

  test("does not touch the database of another program", () => {
    meddle("CREATE TABLE theirs (a)");
    expect(() => HistoryStore.open(path)).toThrow("the database of another program");
    using other = new DatabaseSync(path);
    expect(other.prepare("SELECT name FROM sqlite_schema").all()).toMatchObject([
      { name: "theirs" },
    ]);
  });

  test("rejects a damaged file, and creates a new one only on a rebuild", () => {
    writeFileSync(path, "this is no database, whatever its name says".repeat(100));
    expect(() => HistoryStore.open(path)).toThrow(JournalUnusable);
    const store = HistoryStore.open(path, { anew: true });
    expect(store.load()).toMatchObject({ lastNumber: 0 });
    store.close();
  });
});
