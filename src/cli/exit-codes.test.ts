import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { exitCodeHelp, exitCodes } from "./exit-codes.ts";

const codes = Object.values(exitCodes).filter((code) => code !== exitCodes.ok);

test("exitCodeHelp explains every exit code once, in order", () => {
  const listed = [...exitCodeHelp.matchAll(/^ {2}(\d+) {2,}\S/gm)].map(([, code]) => Number(code));
  expect(listed).toEqual(codes);
});

test("the guide lists every exit code", async () => {
  const guide = new URL("../../docs/guides/cli.md", import.meta.url);
  const [, section = ""] = (await readFile(guide, "utf8")).split("### Exit codes");
  const rows = [...section.matchAll(/^\| ([\d, ]+) \|/gm)];
  const listed = rows.flatMap(([, cell = ""]) => cell.split(", ").map(Number));
  expect(listed).toEqual(expect.arrayContaining(codes));
});
