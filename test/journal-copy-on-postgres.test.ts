/** `berth journal copy`, `backup`, `restore` and `check` on both kinds of journal. */
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { journalFormat } from "../src/journal/format.ts";
import { at, left } from "../src/journal/journal.suite.ts";
import { PostgresJournal } from "../src/journal/postgres/postgres.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";
import { BackupTarget, backupSource } from "../src/server/migrate/backup-file.ts";
import type { JournalSource, JournalTarget } from "../src/server/migrate/journal-copy.ts";
import { PostgresTarget } from "../src/server/migrate/postgres-place.ts";
import { SqliteTarget } from "../src/server/migrate/sqlite-place.ts";
import { SharedVault } from "../src/vault/shared-vault.ts";
import { keyFilePath, SqliteVault, vaultPath } from "../src/vault/sqlite-vault.ts";
import { runInProcess } from "./cli-in-process.ts";
import { berthPath, Process, TestServer } from "./cli-processes.ts";
import { acquire, call } from "./replica-world.ts";
import { TcpProxy } from "./tcp-proxy.ts";
import { postgresTest as test, testDatabase } from "./test-database.ts";

const database = testDatabase();
/** More than are copied at once. */
const commits = 2_500;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-copy-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const berth = (...args: string[]) => runInProcess(args, {});

/** A stopped server with a lease and a waiting request; the lease's id and token. */
async function stopped(): Promise<{ server: TestServer; data: string; id: string; token: string }> {
  const server = await TestServer.start({ aws: { count: 1, ttl: "10m" } });
  const { body } = await acquire(server, "held", "aws");
  await acquire(server, "waits", "aws");
  await server.stop();
  const [id, token] = [String(body["id"]), String(body["token"])];
  return { server, data: join(server.folder, "data"), id, token };
}

test("a lease survives the way to PostgreSQL and back", async () => {
  const { server, data, id, token } = await stopped();
  await using _ = server;
  const address = database.address();
  const copied = await berth("journal", "copy", "--from", data, "--to", address);
  expect(copied).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Copied events 1 to \d+/),
  });
  // Again: everything is there already.
  expect((await berth("journal", "copy", "--from", data, "--to", address)).stdout).toContain(
    "were there already",
  );
  expect((await berth("journal", "check", "--journal", address)).stdout).toContain("is good");
  const replica = await TestServer.startWith(
    { pools: { aws: { count: 1 } } },
    "--journal",
    address,
  );
  await using __ = replica;
  while ((await call(replica, `POST /v1/leases/${id}/heartbeat`, { token })).status !== 200);
  expect((await acquire(replica, "waits", "aws")).body).toMatchObject({ position: 1 });
  await replica.stop();
  const back = join(folder, "back");
  expect((await berth("journal", "copy", "--from", address, "--to", back)).code).toBe(0);
  expect((await berth("journal", "check", "--data", back)).stdout).toContain("is good");
  // A server has used the copy since, so it has later events.
  const older = await berth("journal", "copy", "--from", data, "--to", address);
  expect(older).toMatchObject({ code: 69, stderr: expect.stringContaining("later events") });
});

test("a folder whose journal is in PostgreSQL begins no other one", {
  timeout: 120_000,
}, async () => {
  const { server, data } = await stopped();
  await using _ = server;
  const address = database.address();
  expect((await berth("journal", "copy", "--from", data, "--to", address)).code).toBe(0);
  const elsewhere = `the journal of its servers is postgres://127.0.0.1:${database.port}/`;
  expect(() => SqliteJournal.open(data)).toThrow(elsewhere);
  const config = { pools: { aws: { count: 1 } } };
  await using replica = await TestServer.startWith(config, "--journal", address);
  while ((await call(replica, "GET /readyz")).status !== 200);
  expect(() => SqliteJournal.open(join(replica.folder, "data"))).toThrow(/in use|elsewhere|locked/);
  const used = await berth("journal", "copy", "--from", address, "--to", join(folder, "used"));
  expect(used).toMatchObject({ code: 69, stderr: expect.stringContaining("uses it") });
  const saved = join(folder, "while-used");
  expect((await berth("backup", saved, "--journal", address)).code).toBe(0);
  const restored = await berth("restore", saved, "--journal", address);
  expect(restored).toMatchObject({ code: 69, stderr: expect.stringContaining("uses it") });
  await replica.stop();
  expect(() => SqliteJournal.open(join(replica.folder, "data"))).toThrow(elsewhere);
  expect((await berth("journal", "copy", "--from", address, "--to", data)).code).toBe(0);
  await SqliteJournal.open(data).close();
});

test("a copy that was killed in the middle goes on where it ended", async () => {
  const data = join(folder, "long");
  await mkdir(data);
  const journal = SqliteJournal.open(data);
  for (let seq = 0; seq < commits; seq += 1) await journal.append(seq, at(seq), [left(seq)]);
  await journal.close();
  const schema = new URL(database.address()).searchParams.get("schema") ?? "";
  await using proxy = await TcpProxy.start(database.port);
  const flags = ["journal", "copy", "--from", data, "--to"];
  const copy = new Process(
    berthPath,
    [...flags, database.through(proxy.port, schema)],
    process.env,
  );
  let moves = 0;
  proxy.fateOf = (piece) => {
    if (moves === 2) copy.signal("SIGKILL"); // In the middle of the second part or of the third.
    if (piece.includes("UPDATE head SET seq = $1, checksum")) moves += 1;
    return moves === 2 ? "lost" : "pass";
  };
  await copy.ended;
  const address = database.through(database.port, schema);
  const [half] = await database.query(`SELECT seq FROM ${schema}.head`);
  expect(Number(half?.["seq"])).toBeGreaterThan(0);
  expect(Number(half?.["seq"])).toBeLessThan(commits);
  const server = TestServer.start({ aws: { count: 1 } }, "--journal", address);
  await expect(server).rejects.toThrow("a copy into it has begun and not ended");
  const { code, stdout } = await berth(...flags, address);
  const there = Number(half?.["seq"]);
  expect(code).toBe(0);
  expect(stdout.replaceAll(",", "")).toMatch(
    new RegExp(`Copied events 1 to ${commits}\\b.*${there}.* there already`),
  );
  const count = `SELECT count(*)::integer AS count FROM ${schema}.journal`;
  expect(await database.query(count)).toEqual([{ count: commits }]);
});

test("a backup of a running server is restored to both kinds of journal", async () => {
  const server = await TestServer.start({ aws: { count: 2, ttl: "10m" } });
  await using _ = server;
  await acquire(server, "one", "aws");
  const file = join(folder, "backup");
  const data = join(server.folder, "data");
  expect((await berth("backup", file, "--data", data)).code).toBe(0);
  expect(await berth("backup", file, "--data", data)).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("it exists already"),
  });
  const restored = join(folder, "restored");
  expect((await berth("restore", file, "--data", restored)).code).toBe(0);
  expect((await berth("journal", "check", "--data", restored)).code).toBe(0);
  const address = database.address();
  expect((await berth("restore", file, "--journal", address)).code).toBe(0);
  const again = join(folder, "again");
  expect((await berth("backup", again, "--journal", address)).code).toBe(0);
  expect(readFileSync(again, "utf8")).toBe(readFileSync(file, "utf8"));
  // Another journal is not overwritten.
  const other = await stopped();
  await using __ = other.server;
  const refused = await berth("journal", "copy", "--from", other.data, "--to", address);
  expect(refused.stderr).toContain("it has another journal");
});

test("a damaged backup is refused, and nothing is written", async () => {
  const { server, data } = await stopped();
  await using _ = server;
  const file = join(folder, "backup");
  await berth("backup", file, "--data", data);
  const good = readFileSync(file);
  const damage: Record<string, () => void> = {
    changed: () => writeFileSync(file, Buffer.from(good).fill("x", 400, 401)),
    "cut off": () => truncateSync(file, good.length - 20),
    "without its end": () => writeFileSync(file, good.subarray(0, good.lastIndexOf("\n", -2) + 1)),
    "with more": () => appendFileSync(file, "00000000 {}\n"),
  };
  for (const [name, apply] of Object.entries(damage)) {
    writeFileSync(file, good);
    apply();
    const { code, stderr } = await berth("restore", file, "--data", join(folder, name));
    expect([code, stderr], name).toEqual([65, expect.stringContaining("damaged or missing")]);
  }
});

test("journal check finds a changed commit in PostgreSQL, and a server refuses half a copy", async () => {
  const { server, data } = await stopped();
  await using _ = server;
  const address = database.address();
  const schema = new URL(address).searchParams.get("schema");
  await berth("journal", "copy", "--from", data, "--to", address);
  await database.query(`UPDATE ${schema}.journal SET at = at + 1 WHERE seq = 1`);
  const found = await berth("journal", "check", "--journal", address);
  expect(found).toMatchObject({ code: 65, stdout: expect.stringContaining("checksum") });
  await database.query(`INSERT INTO ${schema}.meta VALUES ('copying', 'yes')`);
  const started = TestServer.start({ aws: { count: 1 } }, "--journal", address);
  await expect(started).rejects.toThrow("a copy into it has begun and not ended");
});

test("a backup has the secrets of the vault, sealed, and both kinds of journal get them", async () => {
  const data = join(folder, "data");
  const journal = SqliteJournal.open(data);
  await journal.append(0, at(1), [left(1)]);
  await journal.close();
  const entry = { kind: "access", owner: "ocp-1.7" } as const;
  const keys = keyFilePath(data);
  await using closing = new AsyncDisposableStack();
  const opened = <V extends { close(): Promise<void> }>(vault: V): V =>
    closing.adopt(vault, () => vault.close());
  await opened(new SqliteVault(vaultPath(data), keys)).put(entry, "kubeconfig-of-a-job");
  const [file, again] = [join(folder, "backup"), join(folder, "again")];
  const saved = await berth("backup", file, "--data", data);
  expect(saved.stdout).toContain(", 1 sealed secret without the keys");
  expect(readFileSync(file, "utf8")).not.toContain("kubeconfig-of-a-job");
  const address = database.address();
  expect((await berth("restore", file, "--journal", address)).code).toBe(0);
  const restored = opened(await PostgresJournal.open(address));
  expect(await new SharedVault(restored.sealedRows, keys).open(entry)).toBe("kubeconfig-of-a-job");
  expect((await berth("backup", again, "--journal", address)).code).toBe(0);
  expect(readFileSync(again, "utf8")).toBe(readFileSync(file, "utf8"));
  const back = join(folder, "back");
  expect((await berth("journal", "copy", "--from", address, "--to", back)).code).toBe(0);
  const vault = opened(new SqliteVault(vaultPath(back), keys));
  expect(await vault.open(entry)).toBe("kubeconfig-of-a-job");
});

test("a copy carries the mark of the format, so that an older Berth does not open it", async () => {
  const newer: JournalSource = {
    ...{ name: "newer", secret: "secret", firstSeq: 1, head: 0, snapshot: undefined, sealed: [] },
    format: journalFormat + 1,
    async *commits() {},
    close: async () => {},
  };
  const file = join(folder, "backup");
  const data = join(folder, "data");
  const address = database.address();
  const opens: readonly [() => Promise<JournalTarget>, () => Promise<unknown>][] = [
    [async () => new BackupTarget(file), () => backupSource(file)],
    [async () => new SqliteTarget(data), async () => SqliteJournal.open(data)],
    [() => PostgresTarget.make(address), () => PostgresJournal.open(address)],
  ];
  for (const [make, open] of opens) {
    const target = await make();
    await target.begin(newer);
    await target.finish(newer);
    await target.close();
    await expect(open()).rejects.toThrow(`it has events of format ${newer.format}`);
  }
});
