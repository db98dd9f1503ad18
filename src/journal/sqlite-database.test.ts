import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JournalUnusable } from "./journal.ts";
import { migrations } from "./migrations.ts";
import { openDatabase } from "./sqlite-database.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-database-"));
  path = join(folder, "journal.db");
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Changes the file in a way that Berth would not. */
function meddle(sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

test("openDatabase() creates the schema in schema.sql", async () => {
  using database = openDatabase(path);
  const rows = database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
  const schema = rows.map((row) => `${row["sql"]};\n`).join("\n");
  await expect(schema).toMatchFileSnapshot("schema.sql");
});

test("openDatabase() syncs every commit and keeps a write-ahead log", () => {
  using database = openDatabase(path);
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
});

test("openDatabase() creates the secret once", () => {
  const secret = (): unknown => {
    using database = openDatabase(path);
    return database.prepare("SELECT value FROM meta WHERE key = 'secret'").get()?.["value"];
  };
  expect(secret()).toBe(secret());
});

test("openDatabase() rejects a newer schema with a hint", () => {
  openDatabase(path).close();
  meddle(`PRAGMA user_version = ${migrations.length + 6}`);
  const [has, knows] = [migrations.length + 6, migrations.length];
  const state = `its schema has version ${has}, and this Berth knows up to ${knows}`;
  const message = `Cannot open the journal "${path}": ${state}`;
  const hint = expect.stringContaining("newer Berth");
  expect(() => openDatabase(path)).toThrow(JournalUnusable);
  expect(() => openDatabase(path)).toThrow(expect.objectContaining({ message, hint }));
});

test("openDatabase() rejects the database of another program and does not change it", () => {
  meddle("CREATE TABLE customers (id); PRAGMA user_version = 1");
  expect(() => openDatabase(path)).toThrow("it is the database of another program");
  using database = new DatabaseSync(path);
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "delete" });
});

test("openDatabase() rejects a file that is not a database, with a hint how to save it", () => {
  writeFileSync(path, "Dear diary, ".repeat(1_000));
  const message = `Cannot open the journal "${path}": file is not a database`;
  const hint = expect.stringContaining("backup");
  expect(() => openDatabase(path)).toThrow(JournalUnusable);
  expect(() => openDatabase(path)).toThrow(expect.objectContaining({ message, hint }));
});
