/**
 * Replicas on PostgreSQL: durable requests beside a journal in SQLite, how far a follower is behind,
 * and how long nothing is granted when the leader dies or hands over. Needs Debian's `postgresql`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { PostgresServer } from "../test/postgres-server.ts";
import { acquire, call, type ReplicaProcess, ReplicaWorld } from "../test/replica-world.ts";
import { familyProcessorMs } from "./machine.ts";
import { scratchFolder, start, startBerth } from "./process.ts";
import { compareInTurns, load } from "./turns.ts";

const pool = "quota";
const configText = `pools: { ${pool}: { count: 200, ttl: 1s, lockDelay: 0s } }`;

/** On a disk, with every commit synced, as in production. */
async function postgres(): Promise<PostgresServer> {
  return PostgresServer.start({ settings: ["shared_buffers=64MB"], parent: process.cwd() });
}

/** The paces at which the delay of a follower is measured, and for how long each. */
const pacesPerSecond = [1_000, 2_000, 3_000, 5_000];
const pacedMs = 10_000;

/**
 * Three parts: the leader alone, as the followers of others are on other machines; the leader with a
 * follower beside it; and the delay of that follower, at several paces and not at full load, with the
 * share of one processor that each side used.
 */
export async function benchReplicaRequests(): Promise<object[]> {
  const folder = scratchFolder();
  await using database = await postgres();
  const sqlite = await startBerth(folder.path, configText);
  const replica = (name: string) => {
    mkdirSync(join(folder.path, name));
    const config = join(folder.path, "berth.yaml");
    return start("berth-server.ts", [join(folder.path, name), config, database.url("postgres")]);
  };
  const leader = await replica("leader");
  const servers = [sqlite, leader];
  try {
    await acquire({ url: `http://127.0.0.1:${leader.port}` }, "warm-up", pool);
    const compared = async (followers: number) => {
      const { base, measured, ...rest } = await compareInTurns(
        servers,
        () => load(sqlite, { connections: 64, pool }),
        () => load(leader, { connections: 64, pool }),
      );
      return { connections: 64, followers, sqlite: base, postgres: measured, ...rest };
    };
    const alone = await compared(0);
    const follower = await replica("follower");
    servers.push(follower);
    const followed = await compared(1);
    const paced: object[] = [];
    for (const pace of pacesPerSecond) {
      const used = countUse({
        leader: leader.child.pid,
        follower: follower.child.pid,
        database: database.pid,
      });
      const lag = followLag(database, follower.port);
      const job = { connections: 64, pool, perSecond: pace };
      const { perSecond, p50Us, p99Us } = await load(leader, job, pacedMs);
      const row = { pace, followers: 1, postgres: perSecond, p50Us, p99Us };
      paced.push({ ...row, ...used(), ...(await lag.end()) });
    }
    return [alone, followed, ...paced];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    folder.remove();
  }
}

/** The share of one processor that each of them, with its children, uses from now until the end. */
function countUse(processes: Readonly<Record<string, number | undefined>>): () => object {
  const startedAt = performance.now();
  const before = Object.entries(processes).map(
    ([name, pid]) => [name, pid, familyProcessorMs(pid)] as const,
  );
  return () => {
    const elapsedMs = performance.now() - startedAt;
    const shareOf = (ms: number) => Math.round((100 * ms) / elapsedMs) / 100;
    return Object.fromEntries(
      before.map(([name, pid, usedMs]) => [name, shareOf(familyProcessorMs(pid) - usedMs)]),
    );
  };
}

/** From the commit, as the database tells it, until a follower has sent its events to a client. */
function followLag(database: PostgresServer, port: number) {
  const committedAt = new Map<number, number>();
  const seenAt = new Map<number, number>();
  const stop = new AbortController();
  const listening = (async () => {
    const client = new Client(database.url("postgres"));
    await client.connect();
    client.on("notification", ({ payload = "" }) => {
      if (/^\d+$/.test(payload)) committedAt.set(Number(payload), performance.now());
    });
    await client.query('LISTEN "berth_berth"');
    return client;
  })();
  const reading = (async () => {
    const { signal } = stop;
    const feed = await fetch(`http://127.0.0.1:${port}/v1/events`, { signal });
    const decoder = new TextDecoder();
    for await (const part of feed.body ?? []) {
      const now = performance.now();
      for (const [, id] of decoder.decode(part).matchAll(/^id: (\d+)$/gm)) {
        seenAt.set(Number(id), now);
      }
    }
  })().catch(() => {});
  return {
    async end() {
      stop.abort();
      await reading;
      await (await listening).end();
      const lags = [...committedAt]
        .flatMap(([seq, at]) => (seenAt.has(seq) ? [(seenAt.get(seq) ?? 0) - at] : []))
        .map((ms) => Math.max(0, ms))
        .toSorted((a, b) => a - b);
      const at = (share: number) => round(lags[Math.floor(lags.length * share)] ?? Number.NaN);
      return { lags: lags.length, lagP50Ms: at(0.5), lagP99Ms: at(0.99) };
    },
  };
}

const round = (ms: number) => Math.round(ms * 10) / 10;

/** How long it takes from the signal until another replica has granted a new request. */
export async function benchFailover(
  signal: "SIGKILL" | "SIGTERM",
  rounds: number,
): Promise<object[]> {
  await using database = await postgres();
  await using world = await ReplicaWorld.start(3, {
    port: database.port,
    address: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    config: { pools: { [pool]: { count: 1_000, ttl: "1m" } } },
  });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await world.restore(3);
    const leader = await world.leader();
    const [other] = world.replicas.filter((replica) => replica !== leader);
    const asked = await timed(leader, other as ReplicaProcess, signal, `${signal}-${round}`);
    times.push(asked);
    await leader.process.ended;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  const worst = Math.round(times.at(-1) ?? 0);
  return [{ signal, rounds, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: worst }];
}

/** One call after the other, each with an id of its own, until one is granted after the signal. */
async function timed(
  leader: ReplicaProcess,
  other: ReplicaProcess,
  signal: "SIGKILL" | "SIGTERM",
  id: string,
): Promise<number> {
  leader.process.signal(signal);
  const startedAt = performance.now();
  const granted = await acquire(other, id, pool);
  const elapsedMs = performance.now() - startedAt;
  if (granted.status !== 201) throw new Error(`Cannot measure: ${JSON.stringify(granted)}`);
  const token = String(granted.body["token"]);
  await call(other, `DELETE /v1/leases/${granted.body["id"]}`, { token }).catch(() => {});
  return elapsedMs;
}
