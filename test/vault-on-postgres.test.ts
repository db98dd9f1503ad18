/** Secrets of clusters with several servers: one vault beside the journal, one key file on each. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { PostgresJournal } from "../src/journal/postgres/postgres.ts";
import { SharedVault } from "../src/vault/shared-vault.ts";
import { SqliteVault } from "../src/vault/sqlite-vault.ts";
import { runInProcess } from "./cli-in-process.ts";
import { acquire, call, ReplicaWorld } from "./replica-world.ts";
import { postgresTest as test, testDatabase } from "./test-database.ts";

const database = testDatabase();
const driver = fileURLToPath(new URL("./fixtures/drivers/scripted.sh", import.meta.url));
const entry = { kind: "access", owner: "ocp-1.7" } as const;
const schemaIn = (address: string) => new URL(address).searchParams.get("schema") ?? "";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "berth-vault-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The key of `name`: its letter 32 times. */
async function keyFile(path: string, ...names: readonly string[]): Promise<string> {
  const file = join(path, `${names.join("-")}.key`);
  const keys = names.map((name) => Buffer.alloc(32, name).toString("base64"));
  await writeFile(file, `${keys.join("\n")}\n`, { mode: 0o600 });
  return file;
}

async function journalAt(address: string): Promise<PostgresJournal> {
  const journal = await PostgresJournal.open(address);
  onTestFinished(() => journal.close());
  return journal;
}

test("the access to a cluster outlives the leader that stored it, and is sealed", async () => {
  const path = await folder();
  await mkdir(join(path, "do"));
  const keys = await keyFile(path, "a");
  const schema = schemaIn(database.address());
  const env = { WORLD: path, PATH: process.env["PATH"] ?? "" };
  await using world = await ReplicaWorld.start(2, {
    port: database.port,
    address: (port) => database.through(port, schema),
    config: {
      templates: { small: { driver: "command", command: [driver], env } },
      pools: { ocp: { template: "small", size: 1, running: 1, ttl: "1m" } },
    },
    flags: () => ["--vault-key", keys],
  });
  const leader = await world.leader();
  const [other] = await world.followers();
  if (other === undefined) throw new Error("Cannot find a follower");
  const granted = await acquire(other, "job", "ocp", "30s");
  expect(granted.status).toBe(201);
  const token = String(granted.body["token"]);
  const [{ id: claim } = {}] = granted.body["claims"] as { id?: string }[];
  const access = `GET /v1/leases/${granted.body["id"]}/claims/${claim}/access`;
  const before = await call(other, access, { token });
  expect(JSON.stringify(before.body)).toMatch(/secret-of-ocp-1/);
  leader.process.signal("SIGKILL");
  await leader.process.ended;
  await world.leader();
  const after = await call(other, access, { token });
  expect(after).toEqual(before);
  const rows = await database.query(`SELECT encode(sealed, 'escape') AS text FROM ${schema}.vault`);
  expect(rows).not.toEqual([]);
  expect(JSON.stringify(rows)).not.toMatch(/secret|password/);
  // A used cluster is destroyed by the new leader, which then erases its access.
  await call(other, `DELETE /v1/leases/${granted.body["id"]}`, { token });
  const left = async () => {
    const all = await database.query(`SELECT owner FROM ${schema}.vault`);
    return all.filter(({ owner }) => String(owner).startsWith("ocp-1."));
  };
  await expect.poll(left, { timeout: 20_000 }).toEqual([]);
});

test("only the leader changes the vault", async () => {
  const address = database.address();
  const keys = await keyFile(await folder(), "a");
  const [a, b] = [await journalAt(address), await journalAt(address)];
  await a.claim({ id: "a", address: null }, 60_000);
  const [first, second] = [a, b].map(({ sealedRows }) => new SharedVault(sealedRows, keys));
  await first?.put(entry, "one");
  await expect(second?.put(entry, "two")).rejects.toThrow("another replica leads");
  await expect(second?.wipe(entry)).rejects.toThrow("another replica leads");
  expect(await second?.open(entry)).toBe("one");
  await database.query(`UPDATE ${schemaIn(address)}.head SET expires_at = '-infinity'`);
  await b.claim({ id: "b", address: null }, 60_000);
  await expect(first?.put(entry, "late")).rejects.toThrow("another replica leads");
  await expect(first?.wipe(entry)).rejects.toThrow("another replica leads");
  await second?.wipe({ kind: "access", owner: "nobody" });
  await second?.wipe(entry);
  expect(await second?.list("access")).toEqual([]);
});

test("a server without the key of the others says so, and makes none of its own", async () => {
  const address = database.address();
  const path = await folder();
  const journal = await journalAt(address);
  await journal.claim({ id: "a", address: null }, 60_000);
  const { sealedRows } = journal;
  const missing = new SharedVault(sealedRows, join(path, "none.key"));
  await expect(missing.put(entry, "one")).rejects.toMatchObject({
    message: expect.stringContaining('none.key": the file does not exist'),
    hint: expect.stringContaining("needs the same key file"),
  });
  expect(await missing.list("access")).toEqual([]);
  await new SharedVault(sealedRows, await keyFile(path, "a")).put(entry, "one");
  const other = new SharedVault(sealedRows, await keyFile(path, "b"));
  await expect(other.open(entry)).rejects.toThrow(/sealed with the key .* which is not in/);
  expect(await other.reseal()).toEqual({ resealed: 0, failed: [entry] });
  // In a rotation every file first gets both keys.
  expect(await new SharedVault(sealedRows, await keyFile(path, "b", "a")).reseal()).toEqual({
    resealed: 1,
    failed: [],
  });
  expect(await other.open(entry)).toBe("one");
  const schema = schemaIn(address);
  await database.query(`UPDATE ${schema}.vault SET owner = 'ocp-2.1'`);
  const moved = { kind: "access", owner: "ocp-2.1" } as const;
  await expect(other.open(moved)).rejects.toThrow("was changed or belongs to something else");
});

test("the vault of a server that was alone moves with it, once", async () => {
  const address = database.address();
  const path = await folder();
  const keys = await keyFile(path, "a");
  const own = new SqliteVault(join(path, "vault.db"), keys);
  onTestFinished(() => own.close());
  await own.put(entry, "one");
  const { sealedRows } = await journalAt(address);
  expect(await own.moveTo((row) => sealedRows.add(row))).toBe(1);
  expect(await own.moveTo((row) => sealedRows.add(row))).toBe(0);
  expect(await new SharedVault(sealedRows, keys).open(entry)).toBe("one");
});

test("berth vault rotate seals what all servers share with the first key of a file", async () => {
  const address = database.address();
  const path = await folder();
  const journal = await journalAt(address);
  await journal.claim({ id: "a", address: null }, 60_000);
  await new SharedVault(journal.sealedRows, await keyFile(path, "a")).put(entry, "one");
  const both = await keyFile(path, "b", "a");
  const rotate = ["vault", "rotate", "--journal", address, "--vault-key", both];
  expect(await runInProcess([...rotate], {})).toMatchObject({ code: 64 });
  expect(await runInProcess([...rotate, "--no-new-key"], {})).toMatchObject({
    code: 0,
    stdout: `Sealed 1 secret with the first key of ${both}\n`,
  });
  expect(await new SharedVault(journal.sealedRows, await keyFile(path, "b")).open(entry)).toBe(
    "one",
  );
});
