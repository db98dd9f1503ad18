import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { at, left, leftUpTo, readAll } from "./journal.suite.ts";
import { JournalUnavailable } from "./journal.ts";
import { SqliteJournal } from "./sqlite.ts";

let disk: string;
let mounted = false;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), "berth-disk-"));
});

afterEach(() => {
  if (mounted) execFileSync("umount", [disk]);
  mounted = false;
  rmSync(disk, { recursive: true });
});

/** Mounts a disk of one megabyte, if this user may do so. */
function mountSmallDisk(): boolean {
  const mount = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk];
  mounted = spawnSync("mount", mount).status === 0;
  return mounted;
}

/** Fills the rest of the disk, so that every write fails. Removing the file frees the space. */
function fillDisk(): string {
  const filler = join(disk, "filler");
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // The disk is full up to this size.
    }
  }
  return filler;
}

test("append() throws JournalUnavailable until a full disk has space again", async (context) => {
  if (!mountSmallDisk()) return context.skip("mounting a small disk is not permitted");
  const journal = SqliteJournal.open(join(disk, "data"));
  try {
    await journal.append(0, at(1), [left(1)]);
    const filler = fillDisk();
    for (const events of [leftUpTo(2_000), leftUpTo(200), leftUpTo(2_000)]) {
      const full = journal.append(1, at(2), events);
      await expect(full).rejects.toThrow(JournalUnavailable);
      await expect(full).rejects.toThrow(/^Cannot append to the journal ".+": .*(full|I\/O)/);
      expect(journal.head).toBe(1);
      expect(await readAll(journal)).toHaveLength(1);
    }
    const snapshot = { seq: 1, at: at(1), state: "x".repeat(100_000) };
    await expect(journal.saveSnapshot(snapshot)).rejects.toThrow(JournalUnavailable);
    expect(await journal.loadSnapshot()).toBeUndefined();
    rmSync(filler);
    expect(await journal.append(1, at(3), leftUpTo(2_000))).toBe(2_001);
    await journal.saveSnapshot(snapshot);
  } finally {
    await journal.close();
  }
  const reopened = SqliteJournal.open(join(disk, "data"));
  expect((await readAll(reopened)).map(({ seq, events }) => [seq, events.length])).toEqual([
    [1, 1],
    [2, 2_000],
  ]);
  await reopened.close();
});

test("append() fills the disk completely and loses nothing", async (context) => {
  if (!mountSmallDisk()) return context.skip("mounting a small disk is not permitted");
  const journal = SqliteJournal.open(join(disk, "data"));
  let acknowledged = 0;
  const filling = async (): Promise<void> => {
    for (;;) acknowledged = await journal.append(acknowledged, at(1), leftUpTo(50));
  };
  await expect(filling()).rejects.toThrow(JournalUnavailable);
  expect(journal.head).toBe(acknowledged);
  await journal.close();
  const reopened = SqliteJournal.open(join(disk, "data"));
  expect(reopened.head).toBe(acknowledged);
  expect(await readAll(reopened)).toHaveLength(acknowledged / 50);
  await reopened.close();
});

test("open() throws JournalUnavailable or JournalUnusable on a full disk", async (context) => {
  if (!mountSmallDisk()) return context.skip("mounting a small disk is not permitted");
  const filler = fillDisk();
  expect(() => SqliteJournal.open(join(disk, "data"))).toThrow(/^Cannot .+(full|I\/O)/);
  rmSync(filler);
  await SqliteJournal.open(join(disk, "data")).close();
});

test("open() reports that the file system is read-only", (context) => {
  if (!mountSmallDisk()) return context.skip("mounting a small disk is not permitted");
  execFileSync("mount", ["-o", "remount,ro", disk]);
  const state = `Cannot use the data folder "${join(disk, "data")}": its file system is read-only`;
  expect(() => SqliteJournal.open(join(disk, "data"))).toThrow(state);
});

test("open() reports that the disk of an existing folder has become read-only", async (context) => {
  if (!mountSmallDisk()) return context.skip("mounting a small disk is not permitted");
  const data = join(disk, "data");
  const journal = SqliteJournal.open(data);
  await journal.append(0, at(1), [left(1)]);
  await journal.close();
  execFileSync("mount", ["-o", "remount,ro", disk]);
  const hint = expect.stringContaining("writable");
  expect(() => SqliteJournal.open(data)).toThrow(expect.objectContaining({ hint }));
  expect(() => SqliteJournal.open(data)).toThrow(JournalUnavailable);
});

/** A limit on the file size needs no privilege: the kernel rejects writes beyond it. */
function limitFiles(bytes: string): boolean {
  return spawnSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]).status === 0;
}

test("append() throws JournalUnavailable until an I/O error is over", async (context) => {
  const journal = SqliteJournal.open(join(disk, "data"));
  await journal.append(0, at(1), [left(1)]);
  if (!limitFiles("65536")) {
    await journal.close();
    return context.skip("prlimit is not there");
  }
  const failed = await journal.append(1, at(2), leftUpTo(5_000)).catch((error: unknown) => error);
  limitFiles("unlimited");
  expect(failed).toBeInstanceOf(JournalUnavailable);
  expect(journal.head).toBe(1);
  expect(await readAll(journal)).toHaveLength(1);
  expect(await journal.append(1, at(3), leftUpTo(5_000))).toBe(5_001);
  await journal.close();
});
