/**
 * Boskos's clients as they behave: they poll with an id or without one, know what they hold by its
 * name alone, beat now and then, die, and oversleep; and the programs that run beside them.
 */

import type { LeaseView } from "../src/core/explain/view.ts";
import type { Ask } from "../src/core/model/command.ts";
import type { PoolName, ResourceName } from "../src/core/model/ids.ts";
import type { PoolSpec } from "../src/core/model/policy.ts";
import type { JobWorld } from "./job.ts";

export interface Poller extends JobWorld {
  /** Nobody starts anything new. */
  over(): boolean;
  /** For how long one may be silent before it loses what it holds. */
  silenceMs(pool: PoolSpec): number;
}

const callTimeoutMs = 6_000;
const pollMs = 3_000;
const waitMs = 2_000;
const presenceMs = 30_000;
/** What a reaper allows; no less than anybody's silence would be unfair to who beats in time. */
const reapedAfterMs = 150_000;

interface Wish {
  readonly pool: PoolName;
  readonly owner: string;
  readonly state: string;
  readonly into: string;
  readonly key?: string;
}

function askOf({ pool, owner, state, into, key }: Wish): Ask {
  return {
    holder: owner,
    items: [{ pool, count: 1, state, into }],
    ttlMs: null,
    byName: true,
    ...(key === undefined ? undefined : { key, presenceMs }),
  };
}

/** A job: waits for one, works with it, gives it back to be cleaned. Its name is used once. */
export async function runUser(owner: string, pool: PoolSpec, poller: Poller): Promise<void> {
  const { world, random, observer } = poller;
  // For one without an id nothing is made: where there may be nothing it would wait for ever.
  const { min } = pool.policy.dynamic ?? { min: 1 };
  const key = min === 0 || random.chance(0.8) ? `poll-${owner}` : undefined;
  const wish = { pool: pool.name, owner, state: "free", into: "busy" };
  for (;;) {
    if (poller.faulty() && random.chance(0.01)) return; // It dies while it waits.
    const askedAtMs = world.nowMs;
    const lease = await acquire({ ...wish, ...(key === undefined ? undefined : { key }) }, poller);
    if (lease === undefined) {
      await world.sleep(pollMs);
      continue;
    }
    observer.acknowledged(owner, lease);
    const held = observer.took(owner, lease, askedAtMs + poller.silenceMs(pool));
    if (await work(lease, held, pool, poller)) {
      observer.gaveBack(held);
      await giveBack(lease, random.pick(["dirty", "dirty", "free"]), poller);
    }
    return;
  }
}

async function acquire(wish: Wish, { network }: Poller): Promise<LeaseView | undefined> {
  const call = { type: "ask-by-name", ask: askOf(wish), waitMs: wish.key ? waitMs : 0 } as const;
  const reply = await network.call(call, callTimeoutMs);
  if (reply?.type !== "outcome" || reply.outcome.type !== "granted") return undefined;
  return reply.outcome.lease;
}

type Held = ReturnType<Poller["observer"]["took"]>;

/** Beats every third of the time that it may be silent. False: it died. */
async function work(
  lease: LeaseView,
  held: Held,
  pool: PoolSpec,
  { world, random, network, observer, faulty, silenceMs }: Poller,
): Promise<boolean> {
  const [claim] = lease.claims;
  const untilMs = world.nowMs + random.between(1_000, 120_000);
  while (world.nowMs < untilMs && world.nowMs < held.believedUntilMs) {
    if (faulty() && random.chance(0.05)) return false;
    const oversleeps = faulty() && random.chance(0.05);
    const beatMs = oversleeps ? silenceMs(pool) * 2 : silenceMs(pool) / 3;
    await world.sleep(Math.min(beatMs, Math.max(1, untilMs - world.nowMs)));
    if (world.nowMs >= held.believedUntilMs || claim === undefined) break;
    const sentAtMs = world.nowMs;
    const { resource, state } = claim;
    const { holder, id } = lease;
    const command = { type: "renew-held", holder, resource, state, lease: id } as const;
    const reply = await network.call({ type: "operate", command }, callTimeoutMs);
    if (reply?.type !== "outcome") continue;
    if (reply.outcome.type !== "done") break; // It is told that it lost it.
    observer.renewed(held, sentAtMs + silenceMs(pool));
  }
  return true;
}

/** Until there is an answer, whichever. One that shares its name says which lease it means. */
async function giveBack(lease: LeaseView, state: string, poller: Poller): Promise<void> {
  const { world, random, network } = poller;
  const [claim] = lease.claims;
  if (claim === undefined) return;
  const named = lease.holder.startsWith("user") ? undefined : { lease: lease.id };
  const { holder } = lease;
  const { resource } = claim;
  for (;;) {
    const command = { type: "release-held", holder, resource, state, ...named } as const;
    const reply = await network.call({ type: "operate", command }, callTimeoutMs);
    if (reply?.type === "outcome") return;
    await world.sleep(random.between(100, 9_000));
  }
}

/** Takes what is in one state, works on it, and leaves it in another; the next one when there is one. */
async function runWorker(
  wish: Wish,
  pool: PoolSpec,
  poller: Poller,
  after: () => string,
): Promise<void> {
  const { world, random, observer, faulty } = poller;
  while (!poller.over()) {
    const askedAtMs = world.nowMs;
    const lease = await acquire(wish, poller);
    if (lease !== undefined) {
      observer.acknowledged(wish.owner, lease);
      const held = observer.took(wish.owner, lease, askedAtMs + poller.silenceMs(pool));
      await world.sleep(random.between(100, 15_000));
      // It dies, and another is started in its place.
      if (!(faulty() && random.chance(0.1))) {
        observer.gaveBack(held);
        await giveBack(lease, after(), poller);
      }
    }
    await world.sleep(random.between(1_000, 10_000));
  }
}

export function runJanitor(pool: PoolSpec, poller: Poller): Promise<void> {
  const wish = { pool: pool.name, owner: "janitor", state: "dirty", into: "cleaning" };
  const after = () => (poller.faulty() && poller.random.chance(0.2) ? "dirty" : "free");
  return runWorker(wish, pool, poller, after);
}

/** Cleans up after what is to go, as its own program does beside Boskos. */
export function runCleaner(pool: PoolSpec, poller: Poller): Promise<void> {
  const wish = { pool: pool.name, owner: "cleaner", state: "toBeDeleted", into: "cleaning" };
  return runWorker(wish, pool, poller, () => "tombstone");
}

/** Takes back what nobody has spoken of for long. */
export async function runReaper(pools: readonly PoolSpec[], poller: Poller): Promise<void> {
  const { world, network } = poller;
  while (!poller.over()) {
    await world.sleep(60_000);
    for (const { name: pool } of pools) {
      for (const state of ["busy", "cleaning", "leased"]) {
        const command = {
          type: "reset",
          pool,
          state,
          silentMs: reapedAfterMs,
          to: "dirty",
        } as const;
        await network.call({ type: "operate", command }, callTimeoutMs);
      }
    }
  }
}

/** Takes several by name, all or none, and gives them back one by one. */
export async function runTaker(
  pool: PoolSpec,
  names: readonly ResourceName[],
  poller: Poller,
): Promise<void> {
  const { world, random, network, observer } = poller;
  for (let turn = 1; !poller.over(); turn++) {
    await world.sleep(random.between(5_000, 60_000));
    const resources = names.filter(() => random.chance(0.6));
    if (resources.length === 0) continue;
    const holder = `taker-${turn}`;
    const askedAtMs = world.nowMs;
    const call = {
      type: "take-by-name",
      holder,
      resources,
      state: "free",
      into: "leased",
    } as const;
    const reply = await network.call(call, callTimeoutMs);
    if (reply?.type !== "outcome" || reply.outcome.type !== "taken") continue;
    const { leases } = reply.outcome;
    const believedUntilMs = askedAtMs + poller.silenceMs(pool);
    const held = leases.map((lease) => observer.took(holder, lease, believedUntilMs));
    await world.sleep(random.between(100, 20_000));
    if (poller.faulty() && random.chance(0.2)) continue;
    for (const [index, lease] of leases.entries()) {
      const mine = held[index];
      if (mine !== undefined) observer.gaveBack(mine);
      await giveBack(lease, "free", poller);
    }
  }
}
