import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDataFolder, makePrivateFile } from "./data-folder.ts";
import { JournalUnusable } from "./journal.ts";

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "berth-folder-"));
});

afterEach(() => {
  rmSync(parent, { recursive: true });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test("makeDataFolder() creates all missing folders, for the owner only", () => {
  const folder = join(parent, "var", "berth");
  makeDataFolder(folder);
  expect(modeOf(join(parent, "var"))).toBe(0o700);
  expect(modeOf(folder)).toBe(0o700);
});

test("makeDataFolder() does not change an existing folder", () => {
  const folder = join(parent, "shared");
  mkdirSync(folder, { mode: 0o750 });
  makeDataFolder(folder);
  expect(modeOf(folder)).toBe(0o750);
});

test.each([
  { path: "file", state: "a file stands in its path" },
  { path: "file/data", state: "a file stands in its path" },
  { path: "long".repeat(99), state: "its path is too long" },
])("makeDataFolder() reports for $path that $state", ({ path, state }) => {
  writeFileSync(join(parent, "file"), "");
  const folder = join(parent, path);
  const message = `Cannot use the data folder "${folder}": ${state}`;
  const hint = expect.stringContaining("--data");
  expect(() => makeDataFolder(folder)).toThrow(JournalUnusable);
  expect(() => makeDataFolder(folder)).toThrow(expect.objectContaining({ message, hint }));
});

test("makePrivateFile() creates a file for the owner only, and does not change an existing file", () => {
  const path = join(parent, "secret");
  makePrivateFile(parent, path);
  expect(modeOf(path)).toBe(0o600);
  writeFileSync(path, "kept");
  makePrivateFile(parent, path);
  expect(statSync(path).size).toBe(4);
});

test("makePrivateFile() reports the problem with the folder", () => {
  const folder = join(parent, "gone");
  expect(() => makePrivateFile(folder, join(folder, "secret"))).toThrow(
    `Cannot use the data folder "${folder}": it cannot be made there`,
  );
});
