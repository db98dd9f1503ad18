import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { searchEvidence } from "./evidence.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-evidence-test-"));
  await mkdir(join(folder, "servers", "1", "data"), { recursive: true });
  await writeFile(join(folder, "tokens"), "planted-token-1\nplanted-token-2\n");
});
afterEach(() => rm(folder, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(folder, "servers", "1", name), text);

test.each([
  ["log", "a line with planted-token-2 in it"],
  ["data/journal.db-wal", `\u0000\u0001${"x".repeat(100)}planted-token-1\u0000`],
  ["log", `"err":"Bearer ${"a".repeat(20)}"`],
  ["log", `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(40)}`],
  ["data/history.db", `berth_${"d".repeat(43)}`],
])("a secret that was planted in %s is found", async (name, text) => {
  await write(name, text);
  expect((await searchEvidence(folder)).leaks).toHaveLength(1);
});

test("ordinary lines are no leak, and all files are counted", async () => {
  await write("log", '{"msg":"listening","hint":"Send Authorization: Bearer TOKEN"}');
  await write("data/journal.db", "berth_pool_suspended");
  expect(await searchEvidence(folder)).toMatchObject({ files: 2, tokens: 2, leaks: [] });
});
