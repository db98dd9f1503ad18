import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Broker } from "../broker/broker.ts";
import { HandClock } from "../broker/hand-clock.suite.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import { commitChecksum } from "../journal/checksum.ts";
import { SqliteJournal } from "../journal/sqlite.ts";
import { commitFrom } from "../journal/sqlite-rows.ts";
import { sql } from "../journal/sqlite-statements.ts";
import { checkJournal } from "./check-journal.ts";

const fixture = fileURLToPath(new URL("../../test/fixtures/data-folder-v1/", import.meta.url));

let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-check-"));
  await lendSome(["a", "b"]);
  await lendSome(["c", "d"]);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Each run ends with a snapshot. */
async function lendSome(ids: readonly string[]): Promise<void> {
  const journal = SqliteJournal.open(folder);
  const broker = await Broker.open(journal, (notBefore) => new HandClock(notBefore));
  await broker.submit({ type: "configure", pools: [pool("aws", 3)] });
  for (const id of ids) {
    await broker.submit(acquire(id, "aws"));
    await broker.submit(release(id));
  }
  await broker.close();
  await journal.close();
}

function meddle(statement: string): void {
  using database = new DatabaseSync(join(folder, "journal.db"));
  database.exec(statement);
}

/** Replaces the events of a commit, with a checksum that matches, and those of all after it. */
function rewrite(seq: number, events: object[]): void {
  using database = new DatabaseSync(join(folder, "journal.db"));
  const update = database.prepare(
    "UPDATE journal SET events = ?, previous = ?, checksum = ? WHERE seq = ?",
  );
  let previous = 0;
  for (const row of database.prepare(sql.allCommits).all()) {
    const commit = commitFrom(row);
    const text = commit.seq === seq ? JSON.stringify(events) : commit.events;
    const checksum = commitChecksum(previous, { ...commit, events: text });
    update.run(text, previous, checksum, commit.seq);
    previous = checksum;
  }
}

const problemsIn = async () =>
  (await checkJournal(folder)).problems.map(({ where, what }) => `${where}: ${what}`);

test("checkJournal() reports the content of a good journal", async () => {
  const report = await checkJournal(folder);
  expect(report).toMatchObject({ firstEvent: 1, commitsWithoutChecksum: 0, problems: [] });
  expect(report.lastEvent).toBe(report.snapshotOfEvent);
});

test.each(["events", "snapshot"])(
  "checkJournal() accepts an older Berth's folder %s",
  async (name) => {
    rmSync(folder, { recursive: true });
    cpSync(join(fixture, name), folder, { recursive: true });
    const report = await checkJournal(folder);
    expect(report).toMatchObject({ lastEvent: 327, problems: [] });
    expect(report.commitsWithoutChecksum).toBe(report.commits);
  },
);

test.each([
  {
    damage: "UPDATE journal SET at = at + 1 WHERE seq = 5",
    want: [/^event 5 \(2023-11-14T22:13:20.001Z\): its checksum does not match$/],
  },
  {
    damage: "UPDATE journal SET events = '[' WHERE seq = 5",
    want: [/^event 5 .*: its checksum/, /^event 5 .*: Cannot read event 5/],
  },
  {
    damage: "DELETE FROM journal WHERE seq = 5",
    want: [
      /^event 6 .*: it follows event 4: events are missing/,
      /^event 6 .*: it does not follow/,
    ],
  },
  {
    damage: "UPDATE snapshot SET state = '{}'",
    want: [/^the snapshot: .*checksum does not match/],
  },
  { damage: "UPDATE meta SET value = 'x' WHERE key = 'secret'", want: [/^the secret: .*damaged/] },
  {
    damage: "DELETE FROM journal WHERE seq > 5",
    want: [/^the end: .*events 6 to \d+ are missing/],
  },
  { damage: "DROP TABLE journal", want: [/^the commits: no such table/, /^the end: /] },
])("checkJournal() finds $damage", async ({ damage, want }) => {
  meddle(damage);
  const found = await problemsIn();
  expect(found).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
});

test("checkJournal() names the event that cannot be applied", async () => {
  rewrite(6, [{ type: "lease-ended", id: "nobody", why: "released", claims: [] }]);
  rmSync(join(folder, "journal.head"));
  expect(await problemsIn()).toEqual([
    expect.stringMatching(/^event 6 \(lease-ended\): it cannot be applied: .*nobody/),
  ]);
});

test("checkJournal() refuses the folder of a running server", async () => {
  const journal = SqliteJournal.open(folder);
  await expect(checkJournal(folder)).rejects.toThrow("has locked it");
  await journal.close();
});
