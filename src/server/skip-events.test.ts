import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Broker } from "../broker/broker.ts";
import { HandClock } from "../broker/hand-clock.suite.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import { commitChecksum } from "../journal/checksum.ts";
import { SqliteJournal } from "../journal/sqlite.ts";
import { commitFrom } from "../journal/sqlite-rows.ts";
import { sql } from "../journal/sqlite-statements.ts";
import { checkJournal } from "./check-journal.ts";
import { planSkip, skipEvents } from "./skip-events.ts";

let folder: string;
const nowMs = Date.parse("2031-02-03T04:05:06Z");

/**
 * Events 1 to 4 make a pool of three. Then each lease is one event for its grant and one for its
 * end; `held` is not released. Closing takes a snapshot, which the tests may delete.
 */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-skip-"));
  await withBroker(async (broker) => {
    await broker.submit({ type: "configure", pools: [pool("aws", 3)] });
    for (const id of ["a", "b"]) {
      await broker.submit(acquire(id, "aws"));
      await broker.submit(release(id));
    }
    await broker.submit(acquire("held", "aws"));
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

async function withBroker<T>(use: (broker: Broker) => Promise<T>): Promise<T> {
  const journal = SqliteJournal.open(folder);
  try {
    const broker = await Broker.open(journal, (notBefore) => new HandClock(notBefore));
    const result = await use(broker);
    await broker.close();
    return result;
  } finally {
    await journal.close();
  }
}

const leases = () => withBroker((broker) => broker.read(({ leases: all }) => [...all.keys()]));

function meddle(...statements: string[]): void {
  using database = new DatabaseSync(join(folder, "journal.db"));
  for (const statement of statements) database.exec(statement);
}

/** Replaces the event of a commit, with checksums that match. */
function rewrite(seq: number, event: object): void {
  using database = new DatabaseSync(join(folder, "journal.db"));
  const update = database.prepare(
    "UPDATE journal SET events = ?, previous = ?, checksum = ? WHERE seq = ?",
  );
  let previous = 0;
  for (const row of database.prepare(sql.allCommits).all()) {
    const commit = commitFrom(row);
    const text = commit.seq === seq ? JSON.stringify([event]) : commit.events;
    const checksum = commitChecksum(previous, { ...commit, events: text });
    update.run(text, previous, checksum, commit.seq);
    previous = checksum;
  }
  rmSync(join(folder, "journal.head"));
}

const withoutSnapshot = "DELETE FROM snapshot";
const aside = () => readdirSync(folder).filter((name) => name.startsWith("skipped-events"));

describe("skipEvents()", () => {
  test("changes nothing in a good journal", async () => {
    expect(await skipEvents(folder, nowMs)).toMatchObject({ skipped: [], setAside: null });
    expect(aside()).toEqual([]);
  });

  test("skips an event that cannot be applied, and those that depend on it", async () => {
    meddle(withoutSnapshot);
    rewrite(5, { type: "lease-ended", id: "nobody", why: "released", back: [] });
    await expect(leases()).rejects.toThrow("Cannot recover from event 5");
    const before = readFileSync(join(folder, "journal.db"));
    const planned = await planSkip(folder);
    expect(planned).toMatchObject({
      skipped: [
        { event: 5, why: expect.stringContaining("nobody"), loss: expect.stringMatching(/still/) },
        // The grant of "a" was event 5, so its end has no lease.
        { event: 6, why: expect.stringContaining('"a"') },
      ],
      setAside: null,
    });
    expect(readFileSync(join(folder, "journal.db"))).toEqual(before);

    const report = await skipEvents(folder, nowMs);
    expect(report.skipped).toEqual(planned.skipped);
    const [name = ""] = aside();
    expect(report.setAside).toBe(join(folder, name));
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const lines = readFileSync(join(folder, name), "utf8").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { seq: 5, event: { type: "lease-ended", id: "nobody" } },
      { seq: 6, event: { type: "lease-ended", id: "a" } },
    ]);
    expect((await checkJournal(folder)).problems).toEqual([]);
    expect(await leases()).toEqual(["held"]);
    expect((await checkJournal(folder)).problems).toEqual([]);
    expect(await skipEvents(folder, nowMs)).toMatchObject({ skipped: [], setAside: null });
  });

  test.each([
    ["a commit with a wrong checksum", "UPDATE journal SET at = at + 1 WHERE seq = 5", [5, 6]],
    ["a commit that cannot be read", "UPDATE journal SET events = '[' WHERE seq = 5", [5, 6]],
    ["a commit that is missing", "DELETE FROM journal WHERE seq = 5", [5, 6]],
    ["the last commit", "UPDATE journal SET events = '[' WHERE seq = 9", [9]],
  ])("skips %s", async (_, damage, want) => {
    meddle(withoutSnapshot, damage);
    await expect(leases()).rejects.toThrow();
    const { skipped } = await skipEvents(folder, nowMs);
    expect(skipped.map(({ event }) => event)).toEqual(want);
    expect((await checkJournal(folder)).problems).toEqual([]);
    expect(await leases()).toEqual(want.includes(9) ? [] : ["held"]);
  });

  test("keeps what the snapshot has, if an event before it is damaged", async () => {
    meddle("UPDATE journal SET events = '[' WHERE seq = 5");
    const { skipped } = await skipEvents(folder, nowMs);
    expect(skipped.map(({ event }) => event)).toEqual([5]);
    expect((await checkJournal(folder)).problems).toEqual([]);
    expect(await leases()).toEqual(["held"]);
  });

  test("drops a damaged snapshot, because all events are there", async () => {
    meddle("UPDATE snapshot SET state = '{}'");
    const report = await skipEvents(folder, nowMs);
    expect(report).toMatchObject({ skipped: [], dropsSnapshot: true });
    expect(await leases()).toEqual(["held"]);
  });

  test("accepts that the end is missing", async () => {
    meddle(withoutSnapshot, "DELETE FROM journal WHERE seq = 9");
    await expect(leases()).rejects.toThrow("event 9 is missing at its end");
    const report = await skipEvents(folder, nowMs);
    expect(report).toMatchObject({ skipped: [], missingAtEnd: { from: 9, to: 9 } });
    expect(await leases()).toEqual([]);
  });

  test("goes on with the next number afterwards", async () => {
    meddle(withoutSnapshot, "UPDATE journal SET events = '[' WHERE seq = 9");
    await skipEvents(folder, nowMs);
    const head = await withBroker(async (broker) => {
      await broker.submit(acquire("next", "aws"));
      return broker.head;
    });
    expect(head).toBe(10);
    expect(await leases()).toEqual(["next"]);
  });

  test("refuses a journal without its beginning and without a snapshot", async () => {
    meddle(withoutSnapshot, "DELETE FROM journal WHERE seq < 5");
    await expect(skipEvents(folder, nowMs)).rejects.toThrow("events 1 to 4 are missing");
    expect(aside()).toEqual([]);
  });

  test("refuses the folder of a running server", async () => {
    const journal = SqliteJournal.open(folder);
    await expect(planSkip(folder)).rejects.toThrow("has locked it");
    await expect(skipEvents(folder, nowMs)).rejects.toThrow("has locked it");
    await journal.close();
  });
});
