import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FolderLock } from "./folder-lock.ts";

let folder: string;
let lock: FolderLock | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-lock-"));
});
afterEach(async () => {
  lock?.release();
  await rm(folder, { recursive: true });
});

test("a damaged lock.db is refused, with the hint to delete it", async () => {
  const path = join(folder, "lock.db");
  writeFileSync(path, "not a database, and long enough to be read as one ".repeat(100));
  let failure: unknown;
  try {
    FolderLock.take(folder);
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({
    message: expect.stringContaining("not a database"),
    hint: expect.stringMatching(/^Delete ".*lock\.db": it has no data/),
  });
  await rm(path);
  lock = FolderLock.take(folder);
});

describe("lock.txt", () => {
  test("replaces a symbolic link, and leaves the file behind it alone", () => {
    const precious = join(folder, "precious");
    writeFileSync(precious, "precious", { mode: 0o644 });
    symlinkSync(precious, join(folder, "lock.txt"));
    lock = FolderLock.take(folder);
    expect(readFileSync(precious, "utf8")).toBe("precious");
    expect(readFileSync(join(folder, "lock.txt"), "utf8")).toMatch(/^process \d+ on /);
    expect(statSync(join(folder, "lock.txt")).mode & 0o777).toBe(0o600);
    lock.release();
    expect(existsSync(precious)).toBe(true);
  });

  test("replaces a note that a killed process has left", () => {
    writeFileSync(join(folder, "lock.txt"), "process 1 on elsewhere, a very long time ago\n");
    lock = FolderLock.take(folder);
    expect(readFileSync(join(folder, "lock.txt"), "utf8")).toMatch(/^process \d+ on .*Z\n$/);
  });

  test("is not read through a symbolic link for the message", async () => {
    lock = FolderLock.take(folder);
    const secret = join(folder, "secret");
    writeFileSync(secret, "hunter2");
    await rm(join(folder, "lock.txt"));
    symlinkSync(secret, join(folder, "lock.txt"));
    expect(() => FolderLock.take(folder)).toThrow(/: another process has locked it$/);
  });
});
