import { beforeEach, describe, expect, test } from "vitest";
import { Broker } from "../broker/broker.ts";
import { NotLeader } from "../broker/broker-contract.ts";
import { HandClock, settled } from "../broker/hand-clock.suite.ts";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import { left } from "../journal/journal.suite.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import { SharedMemory, SharedStore } from "../journal/shared-memory.suite.ts";
import { Replica } from "./replica.ts";
import { type ReplicaClock, replicaLimits } from "./replica-options.ts";
import { Tenure } from "./tenure.ts";

const { leaseMs, marginMs } = replicaLimits;

/** All replicas on one clock with the database; a paused one runs no timers. */
class World {
  readonly store = new SharedStore();
  readonly clock = new HandClock();
  readonly paused = new Set<string>();
  readonly #held = new Map<string, (() => void)[]>();

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.store.nowMs += 10;
      await this.clock.advance(10);
    }
  }

  clockOf(name: string): ReplicaClock {
    return {
      nowMs: () => this.clock.now(),
      after: (delayMs, run) => {
        const wake = () => {
          if (!this.paused.has(name)) return run();
          this.#held.set(name, [...(this.#held.get(name) ?? []), run]);
        };
        return this.clock.wakeAt((this.clock.now() + delayMs) as never, wake);
      },
      random: () => 0.5,
    };
  }

  async wake(name: string): Promise<void> {
    this.paused.delete(name);
    for (const run of this.#held.get(name) ?? []) run();
    await settled();
  }

  async replica(
    name: string,
  ): Promise<{ replica: Replica; broker: Broker; journal: SharedMemory }> {
    const journal = new SharedMemory(this.store);
    const setup = { id: name, version: "1", clock: this.clockOf(name), limits: replicaLimits };
    const replica = new Replica(journal, setup);
    const { mayDecide, freshen } = replica;
    const onConflict = () => "step-down" as const;
    const options = { startAs: "standby" as const, onConflict, mayDecide, freshen };
    const broker = await Broker.open(journal, () => this.clock, options);
    replica.start(broker, `http://${name}`, {});
    return { replica, broker, journal };
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

async function two() {
  const a = await world.replica("a");
  await world.advance(50);
  const b = await world.replica("b");
  await world.advance(50);
  await a.broker.submit({ type: "configure", pools: [pool("aws", 1, { ttlMs: 60_000 })] });
  expect([a.replica.isLeading, b.replica.isLeading]).toEqual([true, false]);
  return { a, b };
}

test("Tenure counts its lease from when the renewal was sent, and ends it early", async () => {
  const journal = new SharedMemory(world.store);
  const tenure = new Tenure(journal, world.clockOf("a"), replicaLimits);
  journal.onAnswer = () => void world.clock.stall(500); // The answer takes half a second.
  await tenure.claim({ id: "a", address: null });
  await settled();
  await world.clock.stall(leaseMs - marginMs - 501);
  expect(tenure.isValid).toBe(true);
  await world.clock.stall(1);
  expect(tenure.isValid).toBe(false);
});

describe("Replica", () => {
  test("follows what the leader commits, and refuses commands", async () => {
    const { a, b } = await two();
    await a.broker.submit(acquire("x", "aws"));
    expect(await b.broker.read(({ leases }) => leases.size)).toBe(1);
    await expect(b.broker.submit(renew("x"))).rejects.toBeInstanceOf(NotLeader);
  });

  test("stays the leader while it can renew its lease", async () => {
    const { a, b } = await two();
    await world.advance(20_000);
    expect([a.replica.isLeading, b.replica.isLeading]).toEqual([true, false]);
    expect(world.store.epoch).toBe(1);
  });

  test("renews its lease while it applies what it has missed", async () => {
    const { a, b } = await two();
    const c = await world.replica("c");
    await a.broker.submit(acquire("x", "aws"));
    const slow = Promise.withResolvers<void>();
    b.journal.onAnswer = () => {
      b.journal.mayRead = slow.promise; // From its claim on.
    };
    c.journal.fails = new JournalUnavailable("It comes later");
    await a.broker.submit(release("x"));
    world.paused.add("a");
    await world.advance(2_500);
    expect(world.store.leader?.replica).toBe("b");
    c.journal.fails = undefined;
    await world.advance(20_000);
    expect(world.store).toMatchObject({ epoch: 2, leader: { replica: "b" } });
    expect(b.replica.isLeading).toBe(false);
    slow.resolve();
    await world.advance(500);
    expect([b.replica.isLeading, c.replica.isLeading]).toEqual([true, false]);
    expect(await b.broker.submit(acquire("y", "aws"))).toMatchObject({ type: "granted" });
  });

  test("stays the leader while it commits, although no renewal gets through", async () => {
    const { a, b } = await two();
    a.journal.renewalFails = new JournalUnavailable("It waits for the commits");
    for (let round = 0; round < 20; round += 1) {
      await a.broker.submit(acquire(`x${round}`, "aws"));
      await a.broker.submit(release(`x${round}`));
      await world.advance(leaseMs - marginMs - 100);
      expect([a.replica.isLeading, b.replica.isLeading]).toEqual([true, false]);
    }
    expect(world.store.epoch).toBe(1);
    await world.advance(2_000);
    expect([a.replica.isLeading, b.replica.isLeading]).toEqual([false, true]);
  });

  test("a commit whose answer comes after the lead was given up renews nothing", async () => {
    const journal = new SharedMemory(world.store);
    const tenure = new Tenure(journal, world.clockOf("a"), replicaLimits);
    await tenure.claim({ id: "a", address: null });
    const appended = journal.append(0, world.clock.now(), [left(1)]);
    tenure.end();
    await appended;
    expect(tenure.isValid).toBe(false);
  });

  test("a renewal whose answer comes after the lead was given up renews nothing", async () => {
    const journal = new SharedMemory(world.store);
    const tenure = new Tenure(journal, world.clockOf("a"), replicaLimits);
    await tenure.claim({ id: "a", address: null });
    const renewed = tenure.renew();
    tenure.end();
    await renewed;
    expect(tenure.isValid).toBe(false);
  });

  test("renews its lease while the list of replicas cannot be written", async () => {
    const { a, b } = await two();
    for (const { journal } of [a, b]) journal.reported = new Promise(() => {});
    await world.advance(20_000);
    expect([a.replica.isLeading, b.replica.isLeading]).toEqual([true, false]);
    expect(world.store.epoch).toBe(1);
  });

  test("answers nothing from memory after a pause in which another one took over", async () => {
    const { a, b } = await two();
    await a.broker.submit(acquire("x", "aws"));
    world.paused.add("a");
    // Until its own lease is over nobody else leads.
    await world.advance(leaseMs - marginMs - 600);
    expect(b.replica.isLeading).toBe(false);
    await world.advance(2_000);
    expect(b.replica.isLeading).toBe(true);
    expect(a.replica.mayDecide()).toBe(false);
    await b.broker.submit(release("x"));
    const beat = a.broker.submit(renew("x"));
    const seen = a.broker.read(({ leases }) => leases.size);
    const refused = expect(beat).rejects.toBeInstanceOf(NotLeader);
    await world.wake("a");
    await world.advance(1_000);
    await refused;
    expect(await seen).toBe(0);
    expect([a.replica.isLeading, b.replica.isLeading]).toEqual([false, true]);
  });

  test("has stepped down before another one leads, if it cannot reach the journal", async () => {
    const { a, b } = await two();
    a.journal.fails = new JournalUnavailable("Cannot reach it");
    for (let ms = 0; !b.replica.isLeading; ms += 10) {
      if (ms > 5_000) throw new Error("Nobody took over");
      await world.advance(10);
      expect(a.replica.isLeading && b.replica.isLeading).toBe(false);
    }
    expect(a.broker.mode).toBe("standby");
    a.journal.fails = undefined;
    await b.broker.submit(acquire("y", "aws"));
    expect(await a.broker.read(({ leases }) => leases.size)).toBe(1);
  });

  test("goes on in the same epoch if the database was only slow", async () => {
    const { a, b } = await two();
    for (const { journal } of [a, b]) journal.fails = new JournalUnavailable("It is slow");
    await world.advance(leaseMs + 500);
    expect([a.replica.isLeading, b.replica.isLeading]).toEqual([false, false]);
    a.journal.fails = undefined;
    await world.advance(500);
    expect([a.replica.isLeading, b.replica.isLeading]).toEqual([true, false]);
    expect(await a.broker.submit(acquire("z", "aws"))).toMatchObject({ type: "granted" });
  });

  test("leads in time if the leader dies while the clock of the database goes back", async () => {
    const { a, b } = await two();
    world.paused.add("a");
    world.store.nowMs -= 3_600_000;
    await world.advance(leaseMs + 1_000);
    expect(b.replica.isLeading).toBe(true);
    await world.wake("a");
    expect(a.replica.isLeading).toBe(false);
  });

  test("leaves the lead to a leader that lives while the clock of the database goes back", async () => {
    const { a, b } = await two();
    const epoch = b.replica.standing?.epoch;
    for (const jumpMs of [-3_600_000, -5 * leaseMs]) {
      world.store.nowMs += jumpMs;
      await world.advance(5_000);
    }
    expect([a.replica.isLeading, b.replica.standing?.epoch]).toEqual([true, epoch]);
  });

  test("reads once for many notifications, and for the first one at once", async () => {
    const { a, b } = await two();
    await world.advance(500);
    const granted = async (name: string) => {
      await a.broker.submit(acquire(name, "aws"));
      await a.broker.submit(release(name));
      for (let more = 0; more < 20; more += 1) b.journal.watcher?.committed();
      await settled();
    };
    const before = b.journal.reads;
    await granted("x1");
    expect([b.broker.head, b.journal.reads]).toEqual([a.broker.head, before + 1]);
    await granted("x2");
    await granted("x3");
    expect(b.journal.reads).toBe(before + 1);
    await world.advance(10);
    expect([b.broker.head, b.journal.reads]).toEqual([a.broker.head, before + 2]);
  });

  test("stop() hands the lead over without waiting for the lease to run out", async () => {
    const { a, b } = await two();
    await a.replica.stop();
    await world.advance(replicaLimits.pollAloneEveryMs + 20);
    expect(b.replica.isLeading).toBe(true);
    expect(await b.broker.submit(acquire("w", "aws"))).toMatchObject({ type: "granted" });
  });

  test("answers readers with all that was committed while it stops, too", async () => {
    const { a, b } = await two();
    await a.replica.stop();
    await world.advance(replicaLimits.pollAloneEveryMs + 20);
    await b.broker.submit(acquire("v", "aws"));
    expect(await a.broker.read(({ leases }) => leases.size)).toBe(1);
  });
});
