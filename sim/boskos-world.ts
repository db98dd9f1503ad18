/** The pools and the clients of Boskos that a seed creates, and what must be left at the end. */
import type { PoolName, ResourceName } from "../src/core/model/ids.ts";
import { type DynamicPolicy, defaultPolicy, type PoolSpec } from "../src/core/model/policy.ts";
import {
  type Poller,
  runCleaner,
  runJanitor,
  runReaper,
  runTaker,
  runUser,
} from "./boskos-client.ts";
import type { JobWorld } from "./job.ts";
import { assertInvariant } from "./violation.ts";

const listed = "listed" as PoolName;
const grown = "grown" as PoolName;
/** Sometimes the parent of the first pool: its pace counts for every kind of request. */
const account = "boskos-account" as PoolName;

export class BoskosWorld {
  readonly #world: JobWorld;
  /** The pools as configured. */
  readonly pools: readonly PoolSpec[];
  /** True when no client may start anything new. */
  over = false;

  /** Two worlds of three have no Boskos clients, because their polling makes a simulation slow. */
  constructor(world: JobWorld) {
    this.#world = world;
    const { random } = world;
    const silenceMs = random.between(40, 120) * 1_000;
    this.pools = random.chance(2 / 3)
      ? []
      : [...this.#listedPools(silenceMs), this.#grownPool(silenceMs)];
  }

  /** Whether a Boskos client cleans the dirty resources of this pool. */
  cleans(pool: string): boolean {
    return pool === listed || pool === grown;
  }

  /** Other limits, another state for new resources, or one pool removed. */
  editedPools(): PoolSpec[] {
    const { random } = this.#world;
    const edited = this.pools.map((pool) => {
      const { dynamic } = pool.policy;
      if (dynamic === undefined) return { ...pool, members: pool.members.slice(0, -1) };
      const max = random.between(1, 6);
      const changed = { ...dynamic, max, min: random.between(0, max) };
      return { ...pool, policy: { ...pool.policy, dynamic: changed } };
    });
    return random.chance(0.2) ? edited.slice(0, 1) : edited;
  }

  *clients(withinMs: number): Generator<{ client: Promise<void>; waitedFor: boolean }> {
    const lent = this.pools.filter(({ name }) => name !== account);
    const [first] = lent;
    if (first === undefined) return;
    const { random, world } = this.#world;
    const poller: Poller = { ...this.#world, over: () => this.over, silenceMs: silenceOf };
    for (let number = 1; number <= random.between(4, 14); number++) {
      const pool = random.pick(lent);
      const startsMs = random.between(0, withinMs);
      const user = world.sleep(startsMs).then(() => runUser(`user-${number}`, pool, poller));
      yield { client: user, waitedFor: true };
    }
    for (const pool of lent) {
      yield { client: runJanitor(pool, poller), waitedFor: false };
      const { dynamic } = pool.policy;
      if (dynamic && random.chance(0.5))
        yield { client: runCleaner(pool, poller), waitedFor: false };
    }
    yield { client: runReaper(lent, poller), waitedFor: false };
    const names = lent.flatMap(({ members }) => members.map(({ name }) => name));
    yield { client: runTaker(first, names, poller), waitedFor: false };
  }

  /** Long after the last client: nothing is held, and the number of resources is right. */
  checkNothingLeft(): void {
    const { ledger } = this.#world.observer;
    for (const { name, policy, members } of this.pools) {
      const there = [...ledger.things].filter(([, { pool }]) => pool === name);
      for (const [resource, { heldBy, state }] of there) {
        assertInvariant(heldBy === null, () => `${resource} is still held by ${heldBy}`);
        assertInvariant(state !== "toBeDeleted", () => `${resource} is still to be deleted`);
      }
      const { min, max } = policy.dynamic ?? { min: members.length, max: members.length };
      const right = there.length >= min && there.length <= max;
      assertInvariant(right, () => `${name} has ${there.length}, not ${min} to ${max}`);
    }
  }

  /** Sometimes with a pace, its own or that of its parent. */
  #listedPools(silenceMs: number): PoolSpec[] {
    const { random } = this.#world;
    const names = Array.from({ length: random.between(1, 4) }, (_, index) => {
      return `${listed}-${index + 1}` as ResourceName;
    });
    const policy = { ...defaultPolicy, silence: silences(silenceMs) };
    const pool = { name: listed, members: names.map((name) => ({ name, labels: {} })) };
    const pace = { everyMs: random.pick([1_000, 4_000, 15_000]), burst: 1, jitter: 0 };
    if (random.chance(0.5)) return [{ ...pool, policy }];
    if (random.chance(0.5)) return [{ ...pool, policy: { ...policy, pace } }];
    const above = { ...defaultPolicy, limit: names.length, pace };
    return [
      { ...pool, policy: { ...policy, parent: account } },
      { name: account, policy: above, members: [] },
    ];
  }

  #grownPool(silenceMs: number): PoolSpec {
    const { random } = this.#world;
    const max = random.between(1, 4);
    const dynamic: DynamicPolicy = {
      min: random.between(0, max),
      max,
      state: random.pick(["free", "free", "dirty"]),
      lifespanMs: random.pick([null, 30_000, 300_000]),
    };
    const policy = { ...defaultPolicy, silence: silences(silenceMs), dynamic };
    return { name: grown, policy, members: [] };
  }
}

function silences(afterMs: number): NonNullable<PoolSpec["policy"]["silence"]> {
  const silence = { afterMs, to: "dirty" };
  return { busy: silence, cleaning: silence, leased: silence };
}

function silenceOf({ policy }: PoolSpec): number {
  return policy.silence?.["busy"]?.afterMs ?? Number.POSITIVE_INFINITY;
}
