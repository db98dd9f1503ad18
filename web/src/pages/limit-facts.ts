/** Which pools share a limit, and who waits for each. */
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import type { ListedPool } from "../data/pool-list.ts";
import { grouped } from "../parts/numbers.ts";

export interface Sharer {
  readonly name: string;
  /** Claims on resources of its own. */
  readonly held: number;
  /** Its resources; undefined: it is shared, and claims are parts of them. */
  readonly total: number | undefined;
  /** Of these. */
  readonly free: number | undefined;
}

/** The pools below a limit that have resources, those that hold most first. Empty: nobody shares it. */
export function sharersOf(limit: string, pools: readonly Pool[]): Sharer[] {
  const parents = new Map(pools.map(({ name, policy }) => [name, policy.parent ?? null]));
  const isBelow = (name: string) => {
    // A pool cannot be its own ancestor; a list that changes may look so for a moment.
    let at = parents.get(name) ?? null;
    for (let level = 0; at !== null && level < parents.size; level++) {
      if (at === limit) return true;
      at = parents.get(at) ?? null;
    }
    return false;
  };
  const below = pools.filter(({ name, limit: onlyLimit }) => {
    return onlyLimit === undefined && isBelow(name);
  });
  if (below.length === 0) return [];
  const own = pools.find(({ name, limit: onlyLimit }) => name === limit && onlyLimit === undefined);
  const all = own === undefined ? below : [own, ...below];
  return all
    .map(({ name, held, total, free, usage }) => {
      return { name, held, ...(usage ? shared : { total, free }) };
    })
    .sort((a, b) => b.held - a.held || a.name.localeCompare(b.name));
}

const shared = { total: undefined, free: undefined };

interface Waits {
  readonly waiting: number;
  /** When the request came that waits longest. */
  readonly since: string | null;
}

export type WaitsFor = (name: string) => Waits;

/** `queue`: that of the limit `own`, from which its pools are counted; undefined: it is not read, or not all of it may be seen. */
export function waitsOf(
  own: Pool,
  pools: readonly ListedPool[],
  queue: readonly WaitingRequest[] | undefined,
): WaitsFor {
  return (name) => {
    if (queue !== undefined && name !== own.name) {
      const here = queue.filter(({ items }) => items.some((item) => item.pool === name));
      const [since = null] = here.map(({ queuedAt }) => queuedAt).sort();
      return { waiting: here.length, since };
    }
    const listed = pools.find((pool) => pool.name === name);
    const counted = name === own.name ? own : listed;
    const waiting = counted === undefined ? 0 : countsOf(counted).waiting;
    return { waiting, since: waiting === 0 ? null : (listed?.oldestQueuedAt ?? null) };
  };
}

/** Pools that have nothing left to lend, and for which requests wait: the limit is not what holds these back. */
export function fullOf(sharers: readonly Sharer[], waitsFor: WaitsFor): readonly string[] {
  const full = sharers.filter(({ name, free }) => free === 0 && waitsFor(name).waiting > 0);
  return full.map(({ name }) => name);
}

/** `not reached; region-west has none free`. */
export function notReachedWords([first, ...more]: readonly string[]): string {
  if (first === undefined) return "not reached";
  const who = more.length === 0 ? `${first} has` : `${grouped(more.length + 1)} pools have`;
  return `not reached; ${who} none free`;
}
