import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, vi } from "vitest";
import { postgresTest as test, testDatabase } from "../../../test/test-database.ts";
import { parsePostgresAddress } from "./address.ts";
import { Connections } from "./connections.ts";

const database = testDatabase();

test("run() takes an answer that came in time, however late this process gets to read it", async () => {
  const connections = await Connections.open(parsePostgresAddress(database.address()));
  onTestFinished(() => connections.close());
  const timeoutMs = 2_000;
  const startedAt = performance.now();
  const answer = connections.run({ verb: "read", sql: "SELECT 1 AS one", timeoutMs });
  await setImmediate();
  while (performance.now() < startedAt + 2 * timeoutMs /* This process is busy. */);
  expect(await answer).toEqual([{ one: 1 }]);
});

test("run() cancels a statement that is too late, and not one that goes on", async () => {
  const connections = await Connections.open(parsePostgresAddress(database.address()));
  onTestFinished(() => connections.close());
  // Two connections are open from now on, so that both statements are sent in time.
  const pause = { verb: "read", sql: "SELECT pg_sleep(0.1)" };
  await Promise.all([connections.run(pause), connections.run(pause)]);
  await database.query("CREATE TABLE locked (one integer)");
  const other = await database.client();
  onTestFinished(() => other.end());
  await other.query("BEGIN; LOCK TABLE locked");
  const late = (sql: string, goesOn: boolean) =>
    connections.run({ verb: "read", sql, timeoutMs: 200, goesOn });
  const waiting = async () => {
    const sql = "SELECT query FROM pg_stat_activity WHERE query LIKE '% FROM locked'";
    return (await database.query(`${sql} AND state = 'active'`)).map(({ query }) => query);
  };
  await expect(late("SELECT 2 FROM locked", true)).rejects.toThrow("no answer within 200 ms");
  await expect(late("SELECT 1 FROM locked", false)).rejects.toThrow("no answer within 200 ms");
  await vi.waitFor(async () => expect(await waiting()).toEqual(["SELECT 2 FROM locked"]), 60_000);
});
