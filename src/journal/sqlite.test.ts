import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { at, left, leftUpTo, readAll } from "./journal.suite.ts";
import { JournalConflict, JournalUnavailable, JournalUnusable } from "./journal.ts";
import { migrations } from "./migrations.ts";
import { SqliteJournal } from "./sqlite.ts";

let folder: string;
let journal: SqliteJournal;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "berth-sqlite-")), "data");
  journal = SqliteJournal.open(folder);
});

afterEach(async () => {
  await journal.close();
  rmSync(join(folder, ".."), { recursive: true });
});

/**
 * Changes the database like a person with sqlite3, or like a second writer in spite of the lock.
 */
function meddle(sql: string): void {
  using database = new DatabaseSync(join(folder, "journal.db"));
  database.exec(sql);
}

describe("append()", () => {
  test("throws JournalConflict if another process has written the same number of events", async () => {
    await journal.append(0, at(1), [left(1)]);
    meddle("INSERT INTO journal (seq, at, count, events) VALUES (2, 2, 1, '[{}]')");
    await expect(journal.append(1, at(3), [left(2)])).rejects.toThrow(
      new JournalConflict("Cannot append after event 1: the last event of the journal is 2"),
    );
    expect(journal.head).toBe(2);
  });

  test("throws JournalUnavailable while another process writes, and works afterwards", async () => {
    const other = new DatabaseSync(join(folder, "journal.db"));
    other.exec("BEGIN IMMEDIATE");
    await expect(journal.append(0, at(1), [left(1)])).rejects.toThrow(JournalUnavailable);
    expect(await readAll(journal)).toEqual([]);
    other.close();
    expect(await journal.append(0, at(1), [left(1)])).toBe(1);
  });

  test("works during a read, and the reader sees the state before", async () => {
    await journal.append(0, at(1), [left(1)]);
    using other = new DatabaseSync(join(folder, "journal.db"), { readOnly: true });
    const count = other.prepare("SELECT count(*) AS count FROM events");
    other.exec("BEGIN");
    expect(count.get()).toEqual({ count: 1 });
    expect(await journal.append(1, at(2), [left(2)])).toBe(2);
    expect(count.get()).toEqual({ count: 1 });
    other.exec("COMMIT");
    expect(count.get()).toEqual({ count: 2 });
  });

  test("limits the size of the write-ahead log", async () => {
    const wal = join(folder, "journal.db-wal");
    for (let turn = 0; turn < 100; turn++) {
      await journal.append(journal.head, at(turn), leftUpTo(2_500));
    }
    expect(statSync(join(folder, "journal.db")).size).toBeGreaterThan(10_000_000);
    expect(statSync(wal).size).toBeLessThan(8_000_000);
  });
});

describe("a write-ahead log that was deleted", () => {
  const log = () => join(folder, "journal.db-wal");

  test("is saved by the next append(), with a warning", async () => {
    const warnings: string[] = [];
    await journal.close();
    journal = SqliteJournal.open(folder, { warn: (message) => warnings.push(message) });
    rmSync(log());
    await journal.append(0, at(1), [left(1)]);
    await journal.append(1, at(2), [left(2)]);
    expect(warnings).toEqual([expect.stringContaining("was deleted")]);
    expect(existsSync(log())).toBe(true);
    const copy = join(folder, "..", "copy");
    execFileSync("cp", ["-r", folder, copy]); // As if the process was killed now.
    const killed = SqliteJournal.open(copy);
    expect(await readAll(killed)).toHaveLength(2);
    await killed.close();
  });

  test("is saved while nothing is appended", async () => {
    await journal.append(0, at(1), [left(1)]);
    const warned = Promise.withResolvers<string>();
    await journal.close();
    journal = SqliteJournal.open(folder, { warn: warned.resolve });
    rmSync(log());
    expect(await warned.promise).toContain("was deleted");
    expect(await readAll(journal)).toHaveLength(1);
  });
});

describe("open()", () => {
  test("creates files that only their owner may read", async () => {
    await journal.append(0, at(1), [left(1)]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const modes = readdirSync(folder).map((name) => {
      return [name, statSync(join(folder, name)).mode & 0o777];
    });
    expect(Object.fromEntries(modes)).toEqual({
      "journal.db": 0o600,
      "journal.db-shm": 0o600,
      "journal.db-wal": 0o600,
      "journal.head": 0o600,
      "lock.db": 0o600,
      "lock.txt": 0o600,
    });
  });

  test("leaves the folder unlocked if the journal cannot be opened", async () => {
    await journal.close();
    meddle("PRAGMA user_version = 99");
    expect(() => SqliteJournal.open(folder)).toThrow("its schema has version 99");
    meddle(`PRAGMA user_version = ${migrations.length}`);
    journal = SqliteJournal.open(folder);
  });

  test("throws JournalUnusable if the secret is missing", async () => {
    await journal.close();
    meddle("DELETE FROM meta");
    expect(() => SqliteJournal.open(folder)).toThrow(JournalUnusable);
    expect(() => SqliteJournal.open(folder)).toThrow("its secret is missing");
  });

  test("leaves no write-ahead log after close()", async () => {
    await journal.append(0, at(1), [left(1)]);
    await journal.close();
    expect(readdirSync(folder).toSorted()).toEqual(["journal.db", "journal.head", "lock.db"]);
  });

  /** A power cut damages data that was not synced: the log may end anywhere, or in garbage. */
  test.each([
    { cut: 0.999, garbage: 0 },
    { cut: 0.75, garbage: 0 },
    { cut: 0.5, garbage: 9_000 },
    { cut: 0.1, garbage: 100 },
    { cut: 0.001, garbage: 0 },
  ])("finds only complete commits if the log is cut at $cut", async ({ cut, garbage }) => {
    for (let turn = 0; turn < 40; turn++) {
      await journal.append(journal.head, at(turn), leftUpTo(1 + (turn % 7) * 20));
    }
    const written = await readAll(journal);
    const copy = join(folder, "..", "copy");
    execFileSync("cp", ["-r", folder, copy]); // A copy by this process would drop our locks.
    tear(join(copy, "journal.db-wal"), cut, garbage);
    const size = statSync(join(copy, "journal.db-wal")).size;
    expect(() => SqliteJournal.open(copy)).toThrow(/: events? \d+ .*missing at its end$/);
    expect(statSync(join(copy, "journal.db-wal")).size, "the log can still be saved").toBe(size);
    rmSync(join(copy, "journal.head"));
    const torn = SqliteJournal.open(copy);
    const found = await readAll(torn);
    expect(found).toEqual(written.slice(0, found.length));
    expect(found.length).toBeLessThan(written.length);
    await torn.append(torn.head, at(99), [left("again")]);
    await torn.close();
  });
});

describe("read()", () => {
  test("throws JournalUnusable if the text of a commit is damaged", async () => {
    await journal.append(0, at(1), [left(1)]);
    meddle("UPDATE journal SET events = substr(events, 1, 9)");
    await expect(readAll(journal)).rejects.toThrow(JournalUnusable);
    await expect(readAll(journal)).rejects.toThrow(
      "Cannot read event 1 of the journal: its commit is damaged",
    );
  });

  test("throws JournalUnusable if a commit was replaced by another one", async () => {
    for (const head of [0, 1, 2]) await journal.append(head, at(head), [left(head)]);
    const other = SqliteJournal.open(join(folder, "..", "other"));
    for (const head of [0, 1]) await other.append(head, at(head), [left("other")]);
    await other.close();
    meddle(`ATTACH '${join(folder, "..", "other", "journal.db")}' AS other;
      REPLACE INTO journal SELECT * FROM other.journal WHERE seq = 2`);
    await expect(readAll(journal)).rejects.toThrow(
      "Cannot read event 2 of the journal: its commit is damaged (it does not follow the commit",
    );
  });

  test("throws JournalUnusable if the checksum of a commit was removed", async () => {
    await journal.append(0, at(1), [left(1)]);
    meddle("UPDATE journal SET checksum = NULL");
    await expect(readAll(journal)).rejects.toThrow("it has no checksum");
  });

  test("throws if a commit in the middle was deleted", async () => {
    for (const head of [0, 1, 2]) await journal.append(head, at(head), [left(head)]);
    meddle("DELETE FROM journal WHERE seq = 2");
    await expect(readAll(journal)).rejects.toThrow("Cannot read event 2 of the journal");
  });

  test("throws JournalUnusable if pages of the database are damaged", async () => {
    await journal.append(0, at(1), leftUpTo(5_000));
    await journal.close();
    scribble(join(folder, "journal.db"));
    const reading = async (): Promise<void> => {
      journal = SqliteJournal.open(folder);
      await readAll(journal);
    };
    await expect(reading()).rejects.toThrow(JournalUnusable);
  });
});

test("the view `events` shows one event per row, with a readable time", async () => {
  await journal.append(0, at(Date.UTC(2031, 1, 3, 4, 5, 6, 78)), [left("a"), left("b")]);
  using database = new DatabaseSync(join(folder, "journal.db"), { readOnly: true });
  const rows = database.prepare("SELECT seq, at, type, event ->> 'id' AS id FROM events").all();
  const shown = { at: "2031-02-03T04:05:06.078Z", type: "request-left" };
  expect(rows).toEqual([
    { ...shown, seq: 1, id: "a" },
    { ...shown, seq: 2, id: "b" },
  ]);
});

function tear(path: string, cut: number, garbage: number): void {
  const size = Math.floor(statSync(path).size * cut);
  truncateSync(path, size);
  overwrite(path, size, garbage);
}

/** Overwrites all pages except the first ones, which contain the schema. */
function scribble(path: string): void {
  overwrite(path, 40_000, statSync(path).size - 40_000);
}

function overwrite(path: string, from: number, bytes: number): void {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(bytes, 0xa5), 0, bytes, from);
  closeSync(file);
}
