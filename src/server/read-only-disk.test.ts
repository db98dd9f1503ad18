/** A data folder on a disk that has become read-only: good journals are not called damaged. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, type TestContext, test } from "vitest";
import { Broker } from "../broker/broker.ts";
import { HandClock } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { at, left } from "../journal/journal.suite.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import { SqliteJournal } from "../journal/sqlite.ts";
import { checkJournal } from "./check-journal.ts";
import { planSkip } from "./skip-events.ts";

let disk: string;
let isMounted: boolean;
const data = () => join(disk, "data");

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), "berth-disk-"));
  isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]).status === 0;
});
afterEach(() => {
  if (isMounted) execFileSync("umount", [disk]);
  rmSync(disk, { recursive: true });
});

function needsDisk(context: TestContext): void {
  if (!isMounted) context.skip("mounting a small disk is not permitted");
}

const becomeReadOnly = () => execFileSync("mount", ["-o", "remount,ro", disk]);

test("checkJournal() reads the journal of a stopped server", async (context) => {
  needsDisk(context);
  const journal = SqliteJournal.open(data());
  const broker = await Broker.open(journal, (notBefore) => new HandClock(notBefore));
  await broker.submit({ type: "configure", pools: [pool("aws", 3)] });
  await broker.close();
  await journal.close();
  becomeReadOnly();
  expect(await checkJournal(data())).toMatchObject({ firstEvent: 1, lastEvent: 4, problems: [] });
});

test("checkJournal() does not leave out what only the log of a killed server has", async (context) => {
  needsDisk(context);
  const running = mkdtempSync(join(tmpdir(), "berth-killed-"));
  const journal = SqliteJournal.open(running);
  await journal.append(0, at(1), [left(1)]);
  // As after a kill: the log is there, and its index is not.
  for (const name of ["journal.db", "journal.db-wal", "journal.head", "lock.db"]) {
    cpSync(join(running, name), join(data(), name));
  }
  await journal.close();
  rmSync(running, { recursive: true });
  expect(existsSync(join(data(), "journal.db-wal"))).toBe(true);
  becomeReadOnly();
  await expect(checkJournal(data())).rejects.toThrow(JournalUnavailable);
});

test("planSkip() says that it cannot write there", async (context) => {
  needsDisk(context);
  await SqliteJournal.open(data()).close();
  becomeReadOnly();
  const failure = expect.objectContaining({ hint: expect.stringContaining("writable") });
  await expect(planSkip(data())).rejects.toThrow(failure);
});
