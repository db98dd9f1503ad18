/** Three servers as processes on one journal in PostgreSQL. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { acquire, call, type ReplicaProcess, ReplicaWorld } from "./replica-world.ts";
import { hasPostgres, postgresTest as test, testDatabase } from "./test-database.ts";

const database = testDatabase();
let world: ReplicaWorld;
let tests = 0;
/** Pools of the test that runs: three of one, one of the other. */
let [three, single] = ["", ""];

beforeAll(async () => {
  if (!hasPostgres) return;
  const schema = new URL(database.address()).searchParams.get("schema") ?? "";
  const names = Array.from({ length: 12 }, (_, index) => index + 1);
  const pools = names.flatMap((name) => [
    [`three-${name}`, { count: 3, ttl: "1m" }],
    [`single-${name}`, { count: 1, ttl: "1m" }],
  ]);
  world = await ReplicaWorld.start(3, {
    port: database.port,
    address: (port) => database.through(port, schema),
    config: { pools: Object.fromEntries(pools) },
  });
});

beforeEach(async () => {
  tests += 1;
  [three, single] = [`three-${tests}`, `single-${tests}`];
  if (hasPostgres) await world.restore(3);
});

afterAll(async () => {
  if (hasPostgres) await world[Symbol.asyncDispose]();
});

async function follower(): Promise<ReplicaProcess> {
  const [first] = await world.followers();
  if (first === undefined) throw new Error("Cannot find a follower");
  return first;
}

const pools = async (replica: ReplicaProcess) =>
  (await call(replica, `GET /v1/pools/${three}`)).body;

test("every replica grants, and every replica sees each grant at once", async () => {
  for (const [index, replica] of world.replicas.entries()) {
    expect((await acquire(replica, `${tests}-job-${index}`, three)).status).toBe(201);
    for (const other of world.replicas) expect((await pools(other))["held"]).toBe(index + 1);
  }
  const [one] = world.replicas;
  const { body } = await call(one as ReplicaProcess, "GET /v1/replicas");
  expect(body["replicas"]).toHaveLength(3);
  for (const replica of world.replicas) {
    expect((await call(replica, "GET /readyz")).status).toBe(200);
  }
  const leader = await world.leader();
  const metrics = await Promise.all(
    world.replicas.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
  );
  const leads = metrics.map((text) => Number(/^berth_replica_leads (\d)$/m.exec(text)?.[1]));
  expect(leads).toEqual(world.replicas.map((replica) => (replica === leader ? 1 : 0)));
  for (const text of metrics) {
    expect(text).toMatch(/^berth_replica_epoch \d+$/m);
    expect(Number(/^berth_replica_stale_seconds (.*)$/m.exec(text)?.[1])).toBeLessThan(10);
    expect(text).toMatch(/^berth_replica_notified 1$/m);
  }
});

test("a request that waits at a follower is granted by a release at another one", async () => {
  const [a, b] = (await world.followers()) as [ReplicaProcess, ReplicaProcess];
  const first = await acquire(a, `${tests}-first`, single);
  const waiting = acquire(b, `${tests}-second`, single, "20s");
  await setTimeout(200);
  const token = String(first.body["token"]);
  await call(a, `DELETE /v1/leases/${first.body["id"]}`, { token });
  expect(await waiting).toMatchObject({ status: 201, body: { holder: `${tests}-second` } });
});

test("the leases of a leader that was killed go on with the next one", async () => {
  const leader = await world.leader();
  const other = await follower();
  const granted = await acquire(leader, `${tests}-job`, three);
  leader.process.signal("SIGKILL");
  const next = await acquire(other, `${tests}-next`, three);
  expect(next.status).toBe(201);
  const token = String(granted.body["token"]);
  const heartbeat = await call(other, `POST /v1/leases/${granted.body["id"]}/heartbeat`, { token });
  expect(heartbeat.status).toBe(200);
  // The same request again: the same lease.
  expect((await acquire(other, `${tests}-job`, three)).body["id"]).toBe(granted.body["id"]);
});

test("SIGTERM hands the lead over, and a client of another replica notices nothing", async () => {
  const leader = await world.leader();
  const [a, b] = (await world.followers()) as [ReplicaProcess, ReplicaProcess];
  await acquire(a, `${tests}-first`, single);
  const waiting = acquire(b, `${tests}-second`, single, "3s");
  leader.process.signal("SIGTERM");
  expect(await leader.process.ended).toBe(0);
  expect((await acquire(a, `${tests}-third`, three)).status).toBe(201);
  // The long poll has ended early or in time, and the request still waits.
  expect(await waiting).toMatchObject({ status: 202 });
  expect(await acquire(a, `${tests}-second`, single)).toMatchObject({
    status: 202,
    body: { position: 1 },
  });
});

test("a leader that was paused beyond its lease grants nothing when it wakes up", async () => {
  const paused = await world.leader();
  const other = await follower();
  const held = await acquire(other, `${tests}-first`, single);
  paused.process.signal("SIGSTOP");
  // These reach the paused process, which answers them when it wakes up.
  const late = call(paused, "POST /v1/leases", {
    body: { holder: "late", requestId: "late", items: [{ pool: single }] },
  });
  const token = String(held.body["token"]);
  const lateBeat = call(paused, `POST /v1/leases/${held.body["id"]}/heartbeat`, { token });
  const stale = call(paused, `GET /v1/pools/${single}`);
  const next = await world.leader(await remaining(paused));
  expect(next).not.toBe(paused);
  await call(other, `DELETE /v1/leases/${held.body["id"]}`, { token });
  expect((await acquire(other, `${tests}-second`, single)).status).toBe(201);
  expect((await acquire(other, `${tests}-third`, single)).status).toBe(202);
  paused.process.signal("SIGCONT");
  expect(await late).toMatchObject({ status: 202, body: { holder: "late" } });
  // It knows what has happened meanwhile, although it was asked before.
  expect((await stale).body["waiting"]).toBeGreaterThan(0);
  expect((await lateBeat).status).toBe(410);
  expect((await world.standing(paused))?.leader).toBe((await world.standing(next))?.self);
});

async function remaining(without: ReplicaProcess): Promise<readonly ReplicaProcess[]> {
  return world.replicas.filter((replica) => replica !== without);
}

test("a leader that cannot reach the database steps down, and follows when it can", async () => {
  const cut = await world.leader();
  const others = await remaining(cut);
  cut.database.mode = "cut";
  const next = await world.leader(others);
  expect((await acquire(next, `${tests}-job`, three)).status).toBe(201);
  const refused = await call(cut, "POST /v1/leases", {
    body: { holder: "x", requestId: "x", items: [{ pool: three }] },
  });
  // It still knows the last address, and whoever leads there answers; or it says that it does not know.
  expect([201, 202, 503]).toContain(refused.status);
  cut.database.mode = "open";
  while ((await call(cut, "GET /readyz")).status !== 200) await setTimeout(50);
  expect((await pools(cut))["held"]).toBe((await pools(next))["held"]);
});

test("a replica reports that it cannot serve while the database is silent", async () => {
  for (const replica of world.replicas) replica.database.mode = "silent";
  const [one] = world.replicas as [ReplicaProcess];
  while ((await call(one, "GET /readyz")).status === 200) await setTimeout(100);
  const body = { holder: "x", items: [{ pool: three }] };
  expect(await call(one, "POST /v1/leases", { body })).toMatchObject({ status: 503 });
  for (const replica of world.replicas) replica.database.mode = "open";
  expect((await acquire(one, `${tests}-job`, three)).status).toBe(201);
});

test("a call with a forged relay header is refused", async () => {
  const leader = await world.leader();
  const response = await fetch(`${leader.url}/v1/leases`, { headers: { "berth-relay": "e30.x" } });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ code: "relay_refused" });
});

/** The status of the answer to a call in exactly these bytes. */
async function rawCall({ url }: ReplicaProcess, line: string, body = ""): Promise<string> {
  const { host, port, hostname } = new URL(url);
  const head = [line, `Host: ${host}`, "Connection: close", `Content-Length: ${body.length}`];
  const client = connect(Number(port), hostname);
  client.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return (await text(client)).split(" ")[1] ?? "";
}

test("the body of a call that a follower passes on never becomes another call", async () => {
  const replica = await follower();
  // It waits for the rest of its body, which the next caller would send.
  const head = ["Host: localhost", "Content-Type: application/json", "Content-Length: 900"];
  const hidden = `POST /v1/leases HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`;
  expect(await rawCall(replica, "GET /v1/leases HTTP/1.1", hidden)).toBe("200");
  // It uses the same connection to the leader.
  expect((await call(replica, "GET /v1/leases")).status).toBe(200);
});

test("a follower passes on calls whose address needs no change to be understood", async () => {
  const replica = await follower();
  for (const target of ["/v1/leases?holder=o'brien", `${replica.url}/v1/leases`]) {
    expect(await rawCall(replica, `GET ${target} HTTP/1.1`)).toBe("200");
  }
});

test("an answer to Boskos that a follower could not pass on was not delivered", async () => {
  const leader = await world.leader();
  const replica = await follower();
  const { hostname, port } = new URL(replica.url);
  const held = async () => (await pools(leader))["held"];
  // The leader writes its answer, and the follower does not get it in time.
  leader.relay.fateOf = (data) => {
    if (data.includes("/acquire")) setImmediate(() => (leader.relay.mode = "silent"));
    return "pass";
  };
  const path = `/acquire?type=${three}&state=free&dest=busy&owner=gone`;
  const lines = [`POST ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, "Content-Length: 0"];
  const client = connect(Number(port), hostname).on("error", () => {});
  client.write(`${lines.join("\r\n")}\r\n\r\n`);
  await expect.poll(held, { timeout: 10_000 }).toBe(1);
  await setTimeout(200);
  client.resetAndDestroy();
  leader.relay.fateOf = () => "pass";
  await setTimeout(100);
  leader.relay.mode = "open";
  await expect.poll(held, { timeout: 10_000 }).toBe(0);
});
