/** The connection to the database is lost: at every moment of a commit, for good, and silently. */
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { TcpProxy } from "../../../test/tcp-proxy.ts";
import { hasPostgres, postgresTest as test, testDatabase } from "../../../test/test-database.ts";
import { at, left, readAll } from "../journal.suite.ts";
import { JournalUnavailable, JournalUnusable } from "../journal.ts";
import { PostgresJournal } from "./postgres.ts";

const database = testDatabase();
let proxy: TcpProxy;
let journal: PostgresJournal;
let schema: string;

beforeEach(async () => {
  if (!hasPostgres) return;
  proxy = await TcpProxy.start(database.port);
  schema = new URL(database.address()).searchParams.get("schema") ?? "";
  journal = await PostgresJournal.open(database.through(proxy.port, schema));
  await journal.claim({ id: "a", address: null }, 60_000);
});

afterEach(async () => {
  if (!hasPostgres) return;
  await journal.close();
  await proxy[Symbol.asyncDispose]();
});

/** The first so many pieces that contain the append, or what follows it, meet this fate. */
function failFirst(count: number, fate: "lost" | "delivered" | "late"): () => number {
  let failed = 0;
  proxy.fateOf = (data) => {
    if (failed >= count || !/append_commit|journal/.test(data.toString("latin1"))) return "pass";
    failed += 1;
    return fate;
  };
  return () => failed;
}

describe.each(["lost", "delivered"] as const)("append(), when its statement is %s", (fate) => {
  test.each([1, 2, 3])("and its connection is cut, %d times", async (count) => {
    const failed = failFirst(count, fate);
    expect(await journal.append(0, at(1), [left(1), left(2)])).toBe(2);
    expect(failed()).toBe(count);
    expect(await journal.append(2, at(2), [left(3)])).toBe(3);
    expect(await readAll(journal)).toEqual([
      { seq: 1, at: at(1), events: [left(1), left(2)] },
      { seq: 3, at: at(2), events: [left(3)] },
    ]);
  });

  test("each time, it throws JournalUnavailable, and the next append finds the outcome", async () => {
    failFirst(99, fate);
    await expect(journal.append(0, at(1), [left(1)])).rejects.toThrow(JournalUnavailable);
    proxy.fateOf = () => "pass";
    const written = (await readAll(journal)).length;
    expect(written).toBe(fate === "delivered" ? 1 : 0);
    expect(await journal.append(written, at(2), [left(2)])).toBe(written + 1);
  });
});

test("an append that was given up is never written after the journal was read", async () => {
  failFirst(99, "late");
  await expect(journal.append(0, at(1), [left(1)])).rejects.toThrow(JournalUnavailable);
  proxy.fateOf = () => "pass";
  expect(await readAll(journal)).toEqual([]);
  proxy.deliverLate();
  await setTimeout(200);
  expect(await readAll(journal)).toEqual([]);
  expect(await journal.append(0, at(2), [left(2)])).toBe(1);
  expect(await journal.renew(60_000)).toMatchObject({ head: 1, leader: { replica: "a" } });
});

test("append() reports success if its commit was written before another replica took over", async () => {
  const other = await PostgresJournal.open(database.through(database.port, schema));
  let taken: Promise<unknown> | undefined;
  proxy.fateOf = (data) => {
    if (taken !== undefined || !data.includes("append_commit")) return "pass";
    const expire = `UPDATE ${schema}.head SET expires_at = '-infinity'`;
    taken = setTimeout(50)
      .then(() => database.query(expire))
      .then(() => other.claim({ id: "b", address: null }, 60_000));
    proxy.mode = "open";
    return "delivered";
  };
  const appended = journal.append(0, at(1), [left(1)]);
  expect(await appended).toBe(1);
  await taken;
  await expect(journal.append(1, at(2), [left(2)])).rejects.toThrow("another replica leads");
  await other.close();
});

test("append() throws JournalUnavailable while the database is out of reach, then works", async () => {
  proxy.mode = "cut";
  await expect(journal.append(0, at(1), [left(1)])).rejects.toThrow(JournalUnavailable);
  await expect(journal.append(0, at(1), [])).rejects.toThrow(JournalUnavailable);
  proxy.mode = "open";
  expect(await journal.append(0, at(1), [])).toBe(0);
  expect(await journal.append(0, at(1), [left(1)])).toBe(1);
});

test("append() notices a connection that is silent, and uses another one", async () => {
  const answered = journal.append(0, at(1), [left(1)]);
  proxy.mode = "silent";
  void setTimeout(2_500).then(() => {
    proxy.mode = "open";
  });
  expect(await answered).toBe(1);
  expect(await readAll(journal)).toHaveLength(1);
});

test("open() names the address without the password if nobody answers", async () => {
  proxy.mode = "cut";
  const address = `postgres://postgres:hunter2@127.0.0.1:${proxy.port}/x`;
  const opening = PostgresJournal.open(address);
  await expect(opening).rejects.toThrow(`127.0.0.1:${proxy.port}/x?schema=berth`);
  await expect(opening).rejects.not.toThrow("hunter2");
});

test("open() says that the database does not exist, with a hint", async () => {
  const address = `postgres://postgres@127.0.0.1:${database.port}/nowhere`;
  const opening = PostgresJournal.open(address);
  await expect(opening).rejects.toThrow(JournalUnusable);
  await expect(opening).rejects.toMatchObject({ hint: expect.stringContaining("createdb") });
});

test("read() and open() find a commit that was changed", async () => {
  for (let seq = 0; seq < 3; seq += 1) await journal.append(seq, at(seq), [left(seq)]);
  await database.query(`UPDATE ${schema}.journal SET events = '[{}]' WHERE seq = 2`);
  await expect(readAll(journal)).rejects.toThrow("event 2 of the journal: its commit is damaged");
  await database.query(`DELETE FROM ${schema}.journal WHERE seq = 3`);
  const opening = PostgresJournal.open(database.through(database.port, schema));
  await expect(opening).rejects.toThrow(JournalUnusable);
});
