/** The mark of the format: when it rises, and whom it keeps out. */
import { afterEach, expect } from "vitest";
import { postgresTest as test, testDatabase } from "../../../test/test-database.ts";
import { at, left } from "../journal.suite.ts";
import { JournalUnusable } from "../journal.ts";
import { formatVersion } from "./migrations.ts";
import { PostgresJournal } from "./postgres.ts";

const database = testDatabase();
const open: PostgresJournal[] = [];

afterEach(async () => {
  for (const journal of open.splice(0)) await journal.close();
});

/** A journal with a leader of the next version, and one replica of this version. */
async function upgrading() {
  const address = database.address();
  const schema = new URL(address).searchParams.get("schema") ?? "";
  const journal = await PostgresJournal.open(address);
  open.push(journal);
  const report = { address: null, version: "1", seq: 0 };
  await journal.report({ ...report, id: "old" });
  await journal.report({ ...report, id: "new" });
  const reads = (id: string, format: number) =>
    database.query(`UPDATE ${schema}.replica SET format = ${format} WHERE id = '${id}'`);
  await reads("new", 2);
  const meta = async (key: string) =>
    (await database.query(`SELECT value FROM ${schema}.meta WHERE key = '${key}'`))[0]?.["value"];
  return { address, schema, journal, reads, meta };
}

test("the format stays while a replica reports that cannot read the next one", async () => {
  const { address, journal, meta } = await upgrading();
  expect(await journal.raiseFormat(2)).toBe(1);
  expect([await meta("format"), journal.format]).toEqual(["1", 1]);
  await (await PostgresJournal.open(address)).close();
});

test("the format rises once every replica can read the next one", async () => {
  const { address, journal, reads, meta } = await upgrading();
  await reads("old", 2);
  expect(await journal.raiseFormat(2)).toBe(2);
  expect([await meta("format"), journal.format]).toEqual(["2", 2]);
  await expect(PostgresJournal.open(address)).rejects.toMatchObject({
    name: "JournalUnusable",
    message: expect.stringContaining("it has events of format 2, and this Berth reads up to 1"),
    hint: expect.stringContaining("start that version, or restore a backup"),
  });
  // One from before there were formats looks at the version of the schema alone.
  expect(await meta("oldest_reader")).toBe(String(formatVersion));
});

test("a replica that has stopped, or was silent for an hour, does not hold the format back", async () => {
  const { schema, journal } = await upgrading();
  await database.query(`UPDATE ${schema}.replica SET seen_at = now() - interval '61 minutes'
    WHERE id = 'old'`);
  expect(await journal.raiseFormat(2)).toBe(2);
  const other = await upgrading();
  await other.journal.forget("old");
  expect(await other.journal.raiseFormat(2)).toBe(2);
});

test("the format of a journal never falls", async () => {
  const { schema, journal, meta } = await upgrading();
  await database.query(`UPDATE ${schema}.meta SET value = '3' WHERE key = 'format'`);
  expect(await journal.raiseFormat(2)).toBe(3);
  expect(await meta("format")).toBe("3");
  await journal.claim({ id: "new", address: null }, 60_000);
  expect(await journal.append(0, at(1), [left(1)])).toBe(1);
});

test("JournalUnusable is what an older server gets, and it changes nothing", async () => {
  const { address, schema, meta } = await upgrading();
  await database.query(`UPDATE ${schema}.meta SET value = '9' WHERE key = 'format'`);
  await expect(PostgresJournal.open(address)).rejects.toBeInstanceOf(JournalUnusable);
  expect(await meta("format")).toBe("9");
});
