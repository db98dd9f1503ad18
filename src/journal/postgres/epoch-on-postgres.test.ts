import { setTimeout } from "node:timers/promises";
import { afterEach, expect } from "vitest";
import { postgresTest as test, testDatabase } from "../../../test/test-database.ts";
import { at, left, readAll } from "../journal.suite.ts";
import { JournalConflict } from "../journal.ts";
import { PostgresJournal } from "./postgres.ts";

const database = testDatabase();
const open: PostgresJournal[] = [];

afterEach(async () => {
  for (const journal of open.splice(0)) await journal.close();
});

async function journals(count: number, address = database.address()): Promise<PostgresJournal[]> {
  const opened = await Promise.all(
    Array.from({ length: count }, () => PostgresJournal.open(address)),
  );
  open.push(...opened);
  return opened;
}

const me = (id: string) => ({ id, address: `http://${id}:8080` });

async function two(): Promise<[PostgresJournal, PostgresJournal]> {
  const [a, b] = await journals(2);
  if (a === undefined || b === undefined) throw new Error("Cannot open two journals");
  return [a, b];
}

test("append() throws JournalConflict if the replica has never claimed to lead", async () => {
  const [a] = await two();
  await expect(a.append(0, at(1), [left(1)])).rejects.toThrow(JournalConflict);
  expect(await readAll(a)).toEqual([]);
});

test("claim() lets one of many replicas lead", async () => {
  const all = await journals(5);
  const claims = await Promise.all(all.map((one, index) => one.claim(me(String(index)), 60_000)));
  const won = claims.filter((claim) => claim !== undefined);
  expect(won).toHaveLength(1);
  expect(won[0]).toMatchObject({ head: 0, epoch: 1 });
  const standing = await all[0]?.look();
  expect(standing).toMatchObject({ epoch: 1, leader: won[0]?.leader });
  expect(standing?.remainingMs).toBeGreaterThan(50_000);
});

test("append() renews the lease, and says when it was sent and when it was written", async () => {
  const [a, b] = await two();
  const said: string[] = [];
  a.renewWithCommits(() => {
    said.push("sent");
    return () => void said.push("written");
  });
  await a.claim(me("a"), 3_600_000);
  const schema = a.name.split("schema=")[1];
  await database.query(`UPDATE ${schema}.head SET expires_at = '-infinity'`);
  await a.append(0, at(1), [left(1)]);
  expect(said).toEqual(["sent", "written"]);
  expect(await b.claim(me("b"), 3_600_000)).toBeUndefined();
  expect((await b.look()).remainingMs).toBeGreaterThan(3_000_000);
});

test("renew() waits for no search, however many are under way", async () => {
  const [a] = await two();
  await a.claim(me("a"), 3_600_000);
  const schema = a.name.split("schema=")[1];
  const blocker = await database.client();
  await blocker.query(`BEGIN; LOCK TABLE ${schema}.journal IN ACCESS EXCLUSIVE MODE`);
  const searches = Array.from({ length: 20 }, () => a.search("x", 1, 9).catch(() => "failed"));
  // On a machine that is slow now, one renewal may be too late; with no connection each of them is.
  const renewed = () => a.renew(3_600_000).catch(() => undefined);
  await expect.poll(renewed, { timeout: 8_000 }).toMatchObject({ leader: { replica: "a" } });
  await blocker.end();
  await Promise.all(searches);
});

test("claim() succeeds when the lease has run out, and the old leader cannot append", async () => {
  const [a, b] = await two();
  await a.claim(me("a"), 50);
  await a.append(0, at(1), [left(1)]);
  await setTimeout(60);
  expect(await b.claim(me("b"), 60_000)).toMatchObject({ head: 1, epoch: 2 });
  await expect(a.append(1, at(2), [left(2)])).rejects.toThrow(JournalConflict);
  await expect(a.append(1, at(2), [])).rejects.toThrow(JournalConflict);
  expect(await a.renew(60_000)).toBeUndefined();
  expect(await b.append(1, at(2), [left(3)])).toBe(2);
  expect(await readAll(a)).toEqual(await readAll(b));
});

test("append() of a leader whose lease has run out succeeds while nobody else leads", async () => {
  const [a, b] = await two();
  await a.claim(me("a"), 1);
  await setTimeout(20);
  expect(await a.append(0, at(1), [left(1)])).toBe(1);
  expect(await a.renew(60_000)).toMatchObject({ head: 1, epoch: 1 });
  expect(await b.claim(me("b"), 60_000)).toBeUndefined();
});

test("resign() lets another replica lead at once", async () => {
  const [a, b] = await two();
  await a.claim(me("a"), 60_000);
  expect(await b.claim(me("b"), 60_000)).toBeUndefined();
  await a.resign();
  expect((await b.look()).leader).toBeNull();
  expect(await b.claim(me("b"), 60_000)).toMatchObject({ epoch: 3, leader: { replica: "b" } });
  await expect(a.append(0, at(1), [left(1)])).rejects.toThrow(JournalConflict);
  await a.resign();
  expect((await b.look()).leader?.replica).toBe("b");
});

test("claim() waits for a commit under way, and its epoch begins after it", async () => {
  const [a, b] = await two();
  await a.claim(me("a"), 1);
  await setTimeout(20);
  const append = a.append(0, at(1), [left(1)]);
  const claimed = await b.claim(me("b"), 60_000);
  const head = await append.catch(() => 0);
  expect(claimed?.head).toBe(head);
});

test("watch() reports each commit and each change of the leader", async () => {
  const [a, b] = await two();
  let calls = Promise.withResolvers<string>();
  const watch = b.watch({
    committed: () => calls.resolve("commit"),
    leaderChanged: () => calls.resolve("leader"),
  });
  while (!watch.isLive) await setTimeout(10);
  await a.claim(me("a"), 60_000);
  expect(await calls.promise).toBe("leader");
  calls = Promise.withResolvers();
  await a.append(0, at(1), [left(1)]);
  expect(await calls.promise).toBe("commit");
  calls = Promise.withResolvers();
  await a.resign();
  expect(await calls.promise).toBe("leader");
  watch.stop();
});

test("replicas() lists who has reported, and forget() removes one", async () => {
  const [a, b] = await two();
  await a.report({ ...me("a"), version: "1", seq: 3 });
  await b.report({ ...me("b"), version: "1", seq: 1 });
  await b.report({ ...me("b"), version: "1", seq: 2 });
  const found = await a.replicas();
  expect(found.map(({ id, seq }) => [id, seq])).toEqual([
    ["a", 3],
    ["b", 2],
  ]);
  await a.forget("b");
  expect((await a.replicas()).map(({ id }) => id)).toEqual(["a"]);
});
