/** Ways to reach the database: TLS, a password file, a pooler. */
import { chmodSync, chownSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { PostgresJournal } from "../src/journal/postgres/postgres.ts";
import { TestAuthority } from "../src/server/test-certificates.suite.ts";
import { berthPath, Process } from "./cli-processes.ts";
import { howToGetPgbouncer, PgBouncer, pgbouncerPath } from "./pgbouncer.ts";
import { PostgresServer, postgresRequired } from "./postgres-server.ts";
import { acquire, ReplicaWorld } from "./replica-world.ts";
import { postgresTest as test, testDatabase } from "./test-database.ts";

const database = testDatabase();

/** A file that only the server of the database reads. */
function ownFile(db: PostgresServer, name: string, content: string): string {
  const path = join(db.folder, name);
  writeFileSync(path, content);
  const { uid, gid } = statSync(db.folder);
  chmodSync(path, 0o600);
  chownSync(path, uid, gid);
  return path;
}

test("sslmode=verify-full accepts the certificate of the authority, and no other", async () => {
  await using db = await PostgresServer.start();
  const authority = new TestAuthority();
  const { cert, key } = authority.issue();
  const files = [ownFile(db, "server.crt", cert), ownFile(db, "server.key", key)] as const;
  await db.stop();
  await db.run(["ssl=on", `ssl_cert_file=${files[0]}`, `ssl_key_file=${files[1]}`]);
  const at = (root: string) =>
    `${db.url("postgres")}?sslmode=verify-full&sslrootcert=${ownFile(db, "root.crt", root)}`;

  const journal = await PostgresJournal.open(at(authority.cert));
  await journal.look();
  const sessions = await db.query(
    "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'berth'",
  );
  expect(sessions).toContainEqual({ ssl: true });
  expect(sessions).not.toContainEqual({ ssl: false });
  await journal.close();

  const wrong = PostgresJournal.open(at(new TestAuthority("CN=Another").cert));
  await expect(wrong).rejects.toMatchObject({ hint: expect.stringContaining("sslrootcert") });
});

test("the password is read from PGPASSFILE, and never shown", { timeout: 240_000 }, async () => {
  await using db = await PostgresServer.start();
  await db.query("CREATE ROLE berth LOGIN SUPERUSER PASSWORD 'hunter2'");
  const rules = ["host all postgres 127.0.0.1/32 trust", "host all all 127.0.0.1/32 scram-sha-256"];
  const hba = ownFile(db, "hba.conf", `${rules.join("\n")}\n`);
  await db.stop();
  await db.run([`hba_file=${hba}`]);
  const address = `postgres://berth@127.0.0.1:${db.port}/postgres`;
  const serveWith = (
    password: string,
    name: string,
    { database = "postgres", mode = 0o600 } = {},
  ) => {
    const file = join(db.folder, `${name}.pgpass`);
    if (mode !== 0) {
      writeFileSync(file, `127.0.0.1:${db.port}:${database}:berth:${password}\n`, { mode });
    }
    const env = { ...process.env, PGPASSFILE: file };
    const serve = ["serve", "--journal", address, "--data", join(db.folder, name)];
    return new Process(berthPath, [...serve, "--listen", "127.0.0.1:0"], env);
  };
  const right = serveWith("hunter2", "right");
  await right.says(/ at (https?:[^\s"]+)/);
  right.signal("SIGTERM");
  await right.ended;
  const wrong = serveWith("hunter3", "wrong");
  expect(await wrong.ended).not.toBe(0);
  expect(wrong.stderr).toContain("Check the user and its password");
  const unusable = [
    [serveWith("hunter2", "missing", { mode: 0 }), "it does not exist"],
    [serveWith("hunter2", "open", { mode: 0o644 }), "other users may read it"],
    [serveWith("hunter2", "other", { database: "other" }), "it has no line for 127.0.0.1"],
  ] as const;
  for (const [server, why] of unusable) {
    expect(await server.ended).toBe(69);
    expect(server.stderr).toContain("wants a password");
    expect(server.stderr).toContain(why);
  }
  for (const { stdout, stderr } of [right, wrong, ...unusable.map(([server]) => server)]) {
    expect(stdout + stderr).not.toMatch(/hunter|Deprecation|WARNING/);
  }
});

test("replicas lend, follow and take over through PgBouncer in transaction mode", async (context) => {
  if (pgbouncerPath === undefined && !postgresRequired) context.skip(howToGetPgbouncer);
  await using pooler = await PgBouncer.start(database.port);
  const { pathname, searchParams } = new URL(database.address());
  await using world = await ReplicaWorld.start(2, {
    port: pooler.port,
    address: (port) =>
      `postgres://postgres@127.0.0.1:${port}${pathname}?schema=${searchParams.get("schema")}`,
    config: { pools: { aws: { count: 3, ttl: "1m" } } },
  });
  const leader = await world.leader();
  const [follower] = await world.followers();
  if (follower === undefined) throw new Error("Nobody follows");
  expect(await acquire(follower, "first", "aws")).toMatchObject({ status: 201 });
  expect(await world.standing(follower)).toMatchObject({ notified: false });
  leader.process.signal("SIGKILL");
  expect(await acquire(follower, "second", "aws")).toMatchObject({ status: 201 });
  const again = await acquire(follower, "first", "aws");
  expect(again).toMatchObject({ status: 201, body: { holder: "first" } });
});
