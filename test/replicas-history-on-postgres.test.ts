/** Many clients of three replicas, while leaders die, are paused and cut off, and the database restarts. */
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type SeenAnswer, type SeenLease, violations } from "./lease-history.ts";
import { PostgresServer } from "./postgres-server.ts";
import { type Answer, call, type ReplicaProcess, ReplicaWorld } from "./replica-world.ts";
import { postgresTest as test } from "./test-database.ts";

const clients = 12;
const pool = "aws";

interface History {
  readonly leases: SeenLease[];
  readonly answers: SeenAnswer[];
  isOver: boolean;
  asked: number;
}

/** Any replica, as through a load balancer; again until there is an answer that says something. */
async function sure(world: ReplicaWorld, line: string, options: object): Promise<Answer> {
  for (;;) {
    const { replicas } = world;
    const replica = replicas[Math.floor(Math.random() * replicas.length)];
    if (replica !== undefined) {
      const once = { timeoutMs: 8_000, ...options };
      const answer = await call(replica, line, once).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
    }
    await setTimeout(20);
  }
}

async function client(world: ReplicaWorld, history: History, name: number): Promise<void> {
  for (let number = 0; !history.isOver; number += 1) {
    history.asked += 1;
    const requestId = `client-${name}-${number}`;
    const body = { holder: requestId, requestId, items: [{ pool }], ttl: "10m", wait: "1s" };
    const askedAt = performance.now();
    let granted = await sure(world, "POST /v1/leases", { body });
    while (granted.status === 202) granted = await sure(world, "POST /v1/leases", { body });
    const grantedAt = performance.now();
    const { id, token, claims } = granted.body as {
      readonly id: string;
      readonly token: string;
      readonly claims: readonly [{ readonly resource: string; readonly fence: number }];
    };
    const [{ resource, fence }] = claims;
    const answers: SeenAnswer[] = [];
    const seen = async (kind: SeenAnswer["call"], line: string, options: object) => {
      const sentAt = performance.now();
      const { status, body: found } = await sure(world, line, options);
      const answer = { id, call: kind, sentAt, answeredAt: performance.now(), status };
      const lease = kind === "ask again" ? { lease: String(found["id"]) } : undefined;
      answers.push({ ...answer, ...lease });
    };
    await seen("heartbeat", `POST /v1/leases/${id}/heartbeat`, { token });
    if (Math.random() < 0.3) await seen("ask again", "POST /v1/leases", { body });
    await setTimeout(Math.random() * 60);
    const releaseSentAt = performance.now();
    await sure(world, `DELETE /v1/leases/${id}`, { token });
    const releasedAt = performance.now();
    if (Math.random() < 0.3) await seen("heartbeat", `POST /v1/leases/${id}/heartbeat`, { token });
    const times = { askedAt, grantedAt, releaseSentAt, releasedAt };
    history.leases.push({ requestId, id, resource, fence, ...times });
    history.answers.push(...answers);
  }
}

/** Servers that it starts are stopped at the end by `started`. */
type Trouble = (
  world: ReplicaWorld,
  leader: ReplicaProcess,
  db: PostgresServer,
  started: AsyncDisposableStack,
) => Promise<void>;

const troubles: Readonly<Record<string, Trouble>> = {
  "the leader is killed": async (_, leader) => leader.process.signal("SIGKILL"),
  "the leader is paused beyond its lease": async (_, leader) => {
    leader.process.signal("SIGSTOP");
    await setTimeout(12_000); // Longer than those of the journal and of the calls between servers.
    leader.process.signal("SIGCONT");
  },
  "the leader is cut off from the database": async (_, leader) => {
    leader.database.mode = "cut";
    await setTimeout(4_000);
    leader.database.mode = "open";
  },
  "the database is silent for the leader": async (_, leader) => {
    leader.database.mode = "silent";
    await setTimeout(4_000);
    leader.database.mode = "open";
  },
  "the other servers do not reach the leader": async (_, leader) => {
    for (const mode of ["cut", "silent"] as const) {
      leader.relay.mode = mode;
      await setTimeout(2_000);
    }
    leader.relay.mode = "open";
  },
  "single connections to the database are cut": async (world) => {
    for (let cuts = 0; cuts < 20; cuts += 1) {
      for (const { database } of world.replicas) database.cutAll();
      await setTimeout(100);
    }
  },
  "statements and their answers are lost": async (world) => {
    for (const { database } of world.replicas) {
      database.fateOf = () => {
        const luck = Math.random();
        return luck < 0.02 ? "lost" : luck < 0.04 ? "delivered" : "pass";
      };
    }
    await setTimeout(4_000);
    for (const { database } of world.replicas) database.fateOf = () => "pass";
  },
  "the database crashes and starts again": async (_, __, db) => {
    await db.stop("SIGQUIT");
    await db.run();
  },
  "the database fails over to a standby": async (world, _, db, started) => {
    const standby = started.use(await db.standby());
    await setTimeout(1_000);
    await db.stop("SIGQUIT");
    await standby.promote();
    world.moveDatabase(standby.port);
  },
  "the leader is asked to stop": async (_, leader) => leader.process.signal("SIGTERM"),
};

test("nothing is lent twice and nothing is lost, whatever happens", {
  timeout: 300_000,
}, async () => {
  await using db = await PostgresServer.start();
  await using started = new AsyncDisposableStack();
  await using world = await ReplicaWorld.start(3, {
    port: db.port,
    address: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    config: { pools: { [pool]: { count: 5, ttl: "10m" } } },
    // The clocks of the servers are minutes apart.
    environment: (index) => ({
      NODE_OPTIONS: `--import=${fileURLToPath(new URL("shift-clock.ts", import.meta.url))}`,
      TEST_CLOCK_OFF_HOURS: String(((index % 3) - 1) / 12),
    }),
  });
  const history: History = { leases: [], answers: [], isOver: false, asked: 0 };
  const running = Array.from({ length: clients }, (_, name) => client(world, history, name));
  for (const [name, cause] of Object.entries(troubles)) {
    const before = history.leases.length;
    await cause(world, await world.leader(), db, started);
    await world.restore(3);
    // Lending goes on after each of them.
    while (history.leases.length < before + clients) await setTimeout(50);
    expect(violations(history.leases, history.answers), name).toEqual([]);
  }
  history.isOver = true;
  await Promise.all(running);
  expect(violations(history.leases, history.answers)).toEqual([]);
  expect(history.leases).toHaveLength(history.asked);
});
