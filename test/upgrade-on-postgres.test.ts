/**
 * A rolling upgrade of servers from the version before this one, and back. Both are real: the older one
 * comes from the history of the repository.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, onTestFinished } from "vitest";
import { PostgresJournal } from "../src/journal/postgres/postgres.ts";
import { berthPath, Process, TestServer } from "./cli-processes.ts";
import { previousVersion } from "./previous-version.ts";
import { acquire, call, type ReplicaProcess, ReplicaWorld } from "./replica-world.ts";
import { hasPostgres, postgresTest as test, testDatabase } from "./test-database.ts";

const database = testDatabase();
const previous = hasPostgres ? previousVersion() : undefined;
afterAll(() => previous?.remove());
const pool = "accounts";
const schemaIn = (address: string) => new URL(address).searchParams.get("schema") ?? "";

async function running(
  berth: string,
  schema: string,
  isOld: (index: number) => boolean,
): Promise<ReplicaWorld> {
  return ReplicaWorld.start(2, {
    port: database.port,
    address: (port) => database.through(port, schema),
    config: { pools: { [pool]: { count: 8, ttl: "2m" } } },
    program: (index) => (isOld(index) ? berth : berthPath),
  });
}

async function stop({ process }: ReplicaProcess): Promise<void> {
  process.signal("SIGTERM");
  expect(await process.ended).toBe(0);
}

/** A lease of an earlier version still counts, and its token still works. */
async function holds(replica: ReplicaProcess, { body }: Awaited<ReturnType<typeof acquire>>) {
  const token = String(body["token"]);
  return (await call(replica, `POST /v1/leases/${body["id"]}/heartbeat`, { token })).status;
}

const name = "servers are replaced one after the other, and back, and lending goes on";

/** Five servers start one after the other. */
const timeout = 180_000;

test(name, { timeout }, async ({ skip }) => {
  if (previous === undefined) return skip("the history of the repository is not here");
  const schema = schemaIn(database.address());
  await using world = await running(previous.berth, schema, (index) => index < 2 || index >= 4);
  const version = () => database.query(`SELECT value FROM ${schema}.meta WHERE key = 'version'`);
  const [, before] = [await world.leader(), await version()];
  const leases: Awaited<ReturnType<typeof acquire>>[] = [];
  const ask = async (replica: ReplicaProcess) => {
    const granted = await acquire(replica, `job-${leases.length}`, pool);
    expect(granted.status).toBe(201);
    leases.push(granted);
    for (const lease of leases) expect(await holds(replica, lease)).toBe(200);
  };
  const [a, b] = world.replicas as [ReplicaProcess, ReplicaProcess];
  await ask(a);
  // Upgrade: the first new server changes the schema while the older ones work.
  const c = await world.add(2);
  expect(await version()).not.toEqual(before);
  await ask(a);
  await ask(c);
  await stop(a);
  const d = await world.add(3);
  await stop(b);
  await ask(d);
  expect((await world.standing(d))?.replicas.map(({ id }) => id)).toHaveLength(2);
  // And back: nothing was written that the older version cannot read.
  const e = await world.add(4);
  await stop(c);
  await stop(d);
  await ask(e);
});

/** What it says when it does not start. */
async function refusal(...args: string[]): Promise<{ code: number; text: string }> {
  const process_ = new Process(berthPath, ["serve", "--listen", "127.0.0.1:0", ...args], {
    ...process.env,
  });
  return { code: await process_.ended, text: process_.all };
}

const plain = "it has events of format 2, and this Berth reads up to 1";

test("a server refuses a journal of a newer format in PostgreSQL", async () => {
  const address = database.address();
  const schema = schemaIn(address);
  await (await PostgresJournal.open(address)).close();
  await database.query(`UPDATE ${schema}.meta SET value = '2' WHERE key = 'format'`);
  const folder = await mkdtemp(join(tmpdir(), "berth-newer-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const config = join(folder, "berth.yaml");
  await writeFile(config, JSON.stringify({ pools: { [pool]: { count: 1 } } }));
  const { code, text } = await refusal("--config", config, "--data", folder, "--journal", address);
  expect(text).toContain(plain);
  expect(text).toContain("start that version, or restore a backup from before the upgrade");
  expect(code).not.toBe(0);
});

test("a server refuses a journal of a newer format in SQLite", async () => {
  await using server = await TestServer.start({ [pool]: { count: 1 } });
  await server.stop();
  const data = join(server.folder, "data");
  const file = new DatabaseSync(join(data, "journal.db"));
  file.exec("INSERT INTO meta (key, value) VALUES ('format', '2')");
  file.close();
  const { code, text } = await refusal("--data", data);
  expect(text).toContain(plain);
  expect(code).not.toBe(0);
});
