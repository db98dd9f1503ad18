/**
 * Simulated Boskos clients: they poll with or without a request id, know their resources only by
 * name, send updates now and then, die, and act too late. Also the programs that run next to them.
 */

import type { LeaseView } from "../src/core/explain/view.ts";
import type { Ask } from "../src/core/model/command.ts";
import type { PoolName, ResourceName } from "../src/core/model/ids.ts";
import type { PoolSpec } from "../src/core/model/policy.ts";
import type { JobWorld } from "./job.ts";

export interface Poller extends JobWorld {
  /** True when no client may start anything new. */
  over(): boolean;
  /** How long a client may send no update before it loses its resource. */
  silenceMs(pool: PoolSpec): number;
}

const callTimeoutMs = 6_000;
const pollMs = 3_000;
const waitMs = 2_000;
const presenceMs = 30_000;
/** The timeout of the reaper: longer than any client's update interval. */
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

/** A job: waits for a resource, uses it and releases it as dirty. Its name is used once. */
export async function runUser(owner: string, pool: PoolSpec, poller: Poller): Promise<void> {
  const { world, random, observer } = poller;
  // A client without an id gets no dynamic resource made for it, so in an empty pool it would wait
  // for ever.
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
      observer.released(held);
      await release(lease, random.pick(["dirty", "dirty", "free"]), poller);
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

/** Sends an update every third of its timeout. Returns false if the client died. */
async function work(
  lease: LeaseView,
  held: Held,
  pool: PoolSpec,
  { world, random, network, observer, faulty, silenceMs }: Poller,
): Promise<boolean> {
  const [claim] = lease.claims;
  const untilMs = world.nowMs + random.between(1_000, 120_000);
  let beats = 0;
  while (world.nowMs < untilMs && world.nowMs < held.believedUntilMs) {
    if (faulty() && random.chance(0.05)) return false;
    const oversleeps = faulty() && random.chance(0.05);
    // Whole milliseconds, as the clock of a server has.
    const beatMs = oversleeps ? silenceMs(pool) * 2 : Math.floor(silenceMs(pool) / 3);
    await world.sleep(Math.min(beatMs, Math.max(1, untilMs - world.nowMs)));
    if (world.nowMs >= held.believedUntilMs || claim === undefined) break;
    const sentAtMs = world.nowMs;
    const { resource, state } = claim;
    const { holder, id } = lease;
    const data = beats++ % 3 === 0 ? undefined : userDataOf(beats, world.nowMs);
    const command = { type: "renew-held", holder, resource, state, lease: id, ...data } as const;
    const reply = await network.call({ type: "operate", command }, callTimeoutMs);
    if (reply?.type !== "outcome") continue;
    if (reply.outcome.type !== "done") break; // The server reports that the resource is lost.
    observer.renewed(held, sentAtMs + silenceMs(pool));
  }
  return true;
}

/** Adds, replaces and removes entries, beside those of other holders. */
function userDataOf(beats: number, nowMs: number) {
  return { userData: { beat: String(nowMs), [`entry-${beats % 4}`]: beats % 2 ? "set" : null } };
}

/** Retries until any reply arrives. A client whose name is shared also sends the lease's id. */
async function release(lease: LeaseView, state: string, poller: Poller): Promise<void> {
  const { world, random, network, observer } = poller;
  const [claim] = lease.claims;
  if (claim === undefined) return;
  const named = lease.holder.startsWith("user") ? undefined : { lease: lease.id };
  const { holder } = lease;
  const { resource } = claim;
  if (named === undefined) observer.releasesByName(holder, resource);
  for (;;) {
    const command = { type: "release-held", holder, resource, state, ...named } as const;
    const reply = await network.call({ type: "operate", command }, callTimeoutMs);
    if (reply?.type === "outcome") return;
    await world.sleep(random.between(100, 9_000));
  }
}

/** Takes resources in one state, one after the other, and sets each to another state. */
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
      // The worker dies, and another one starts.
      if (!(faulty() && random.chance(0.1))) {
        observer.released(held);
        await release(lease, after(), poller);
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

/** Deletes dynamic resources that are marked for deletion, as Boskos's cleaner does. */
export function runCleaner(pool: PoolSpec, poller: Poller): Promise<void> {
  const wish = { pool: pool.name, owner: "cleaner", state: "toBeDeleted", into: "cleaning" };
  return runWorker(wish, pool, poller, () => "tombstone");
}

/** Resets resources that had no update for a long time. */
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

/** Takes several resources by name, all or none, and releases them one by one. */
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
      if (mine !== undefined) observer.released(mine);
      await release(lease, "free", poller);
    }
  }
}
