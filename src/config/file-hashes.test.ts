import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { FileHashes } from "./file-hashes.ts";
import { hashOfFile } from "./revision.ts";

function newFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-hashes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "driver");
  writeFileSync(path, content);
  return path;
}

test("a file that has changed just now is read each time, until its clock has moved on", () => {
  const path = newFile("0000");
  const changedAt = statSync(path).ctimeMs;
  let [now, reads] = [changedAt, 0];
  const hashOf = (each: string) => {
    reads += 1;
    return hashOfFile(each);
  };
  const hashes = new FileHashes({ now: () => now, hashOf });
  const readsAt = (time: number) => {
    [now, reads] = [time, 0];
    for (let i = 0; i < 3; i += 1) expect(hashes.of(path)).toBe(hashOfFile(path));
    return reads;
  };
  expect(readsAt(changedAt + 100)).toBe(3);
  expect(readsAt(changedAt + 1_999)).toBe(3);
  expect(readsAt(changedAt + 2_001)).toBe(1);
  expect(readsAt(changedAt + 60_000)).toBe(0);
});

test("finds each of many changes of the same length, also within one tick", () => {
  const [path, hashes] = [newFile("0000"), new FileHashes()];
  for (let i = 0; i < 200; i += 1) {
    writeFileSync(path, String(i).padStart(4, "0"));
    expect(hashes.of(path)).toBe(hashOfFile(path));
  }
});

test("finds a change of a settled file that keeps its length and its mtime", async () => {
  const [path, hashes] = [newFile("old!"), new FileHashes()];
  utimesSync(path, 1_000, 1_000);
  await sleep(2_200);
  const before = hashes.of(path);
  writeFileSync(path, "new!");
  utimesSync(path, 1_000, 1_000);
  expect(hashes.of(path)).not.toBe(before);
  expect(hashes.of(path)).toBe(hashOfFile(path));
});

test("finds that a file is replaced, gone, and back", async () => {
  const [path, hashes] = [newFile("one"), new FileHashes()];
  await sleep(2_200);
  expect(hashes.of(path)).toBe(hashOfFile(path));
  const other = newFile("two");
  renameSync(path, `${path}.old`);
  expect(hashes.of(path)).toBeUndefined();
  renameSync(other, path);
  expect(hashes.of(path)).toBe(hashOfFile(path));
});

test("reads a large file that has not changed once", async () => {
  const [path, hashes] = [newFile("x".repeat(64 * 1024 * 1024)), new FileHashes()];
  await sleep(2_200);
  const first = hashes.of(path);
  const usedBefore = process.cpuUsage();
  for (let i = 0; i < 100; i += 1) expect(hashes.of(path)).toBe(first);
  const { user, system } = process.cpuUsage(usedBefore);
  expect((user + system) / 1_000).toBeLessThan(1_000); // 6.4 GB would take several seconds.
}, 30_000);
