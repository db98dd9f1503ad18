/** What each space has of a pool beside what its weight gives it. */
import type { Pool } from "../../../src/api/schemas.ts";
import type { Space } from "../../../src/api/space-schemas.ts";

export interface SpaceShare {
  readonly name: string;
  readonly weight: number;
  readonly held: number;
  readonly capacity: number;
  /** From 0 to 1. */
  readonly share: number;
  /** The part that its weight gives it while all of these spaces want more. */
  readonly fair: number;
  readonly quota: number | null;
  /** How many of its requests wait for the pool. */
  readonly waiting: number;
}

/**
 * Spaces that hold something of the pool, wait for it, or have a quota of it. Those with the most
 * first. Of a shared pool all numbers are of one dimension.
 */
export function sharesOf(pool: string, spaces: readonly Space[]): SpaceShare[] {
  const dimension = dimensionOf(pool, spaces);
  const isOfIt = (one: Part) => one.pool === pool && (one.dimension ?? "") === dimension;
  const found = spaces.flatMap((space) => {
    const hold = space.holds.find(isOfIt);
    const quota = space.quotas.find(isOfIt);
    const waiting = waitingFor(pool, space);
    if (hold === undefined && quota === undefined && waiting === 0) return [];
    const { held = 0, capacity = 0 } = hold ?? {};
    return [{ ...space, held, capacity, waiting, quota: quota?.max ?? null }];
  });
  const weights = found.reduce((sum, { weight }) => sum + weight, 0);
  const whole = Math.max(0, ...found.map(({ capacity }) => capacity));
  return found
    .map(({ name, weight, held, quota, waiting }) => {
      const share = whole === 0 ? 0 : held / whole;
      return { name, weight, held, capacity: whole, share, fair: weight / weights, quota, waiting };
    })
    .sort((a, b) => b.share - a.share || b.waiting - a.waiting || a.name.localeCompare(b.name));
}

/** Whether the pool makes resources itself. Of what hosts share, none is made. */
export function canMake({ template, policy, usage }: Pick<Pool, "template" | "policy" | "usage">) {
  return usage === undefined && (template !== undefined || (policy.dynamic ?? null) !== null);
}

function waitingFor(pool: string, { waits = [] }: Space): number {
  return waits.find((one) => one.pool === pool)?.requests ?? 0;
}

interface Part {
  readonly pool: string | null;
  readonly dimension: string | null;
}

/** The dimension of a shared pool of which most is held, all spaces together; empty: claims. */
export function dimensionOf(pool: string, spaces: readonly Space[]): string {
  const parts = new Map<string, number>();
  for (const { holds } of spaces) {
    for (const { pool: of, dimension, held, capacity } of holds) {
      if (of !== pool) continue;
      const name = dimension ?? "";
      parts.set(name, (parts.get(name) ?? 0) + held / Math.max(1e-9, capacity));
    }
  }
  const [most] = [...parts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
  return most?.[0] ?? "";
}

/** Pools that several spaces hold some of or wait for; those with the largest part in use first. */
export function sharedPools(spaces: readonly Space[]): string[] {
  const held = new Map<string, { spaces: number; part: number }>();
  for (const { holds, waits = [] } of spaces) {
    const largest = new Map<string, number>(waits.map(({ pool }) => [pool, 0]));
    for (const { pool, held: amount, capacity } of holds) {
      const part = amount / Math.max(1e-9, capacity);
      largest.set(pool, Math.max(part, largest.get(pool) ?? 0));
    }
    for (const [pool, part] of largest) {
      const before = held.get(pool) ?? { spaces: 0, part: 0 };
      held.set(pool, { spaces: before.spaces + 1, part: before.part + part });
    }
  }
  return [...held]
    .filter(([, found]) => found.spaces > 1)
    .sort(([a, x], [b, y]) => y.part - x.part || a.localeCompare(b))
    .map(([pool]) => pool);
}

export interface SpaceTurn {
  readonly share: number;
  /** No other space has a share that is as low. */
  readonly isNext: boolean;
  /** The pool of which the space holds the largest part, if that is another one. */
  readonly of: string | null;
}

/**
 * The shares by which the spaces that wait for a pool take turns: these are not what they hold of the pool itself.
 * Empty if only one waits.
 */
export function turnsOf(pool: string, spaces: readonly Space[]): ReadonlyMap<string, SpaceTurn> {
  const waiting = spaces.filter((space) => waitingFor(pool, space) > 0);
  if (waiting.length < 2) return new Map();
  const lowest = Math.min(...waiting.map(({ share }) => share));
  const isShared = waiting.filter(({ share }) => share === lowest).length > 1;
  return new Map(
    waiting.map(({ name, share, holds: [most] }) => {
      const of = most === undefined || most.pool === pool ? null : most.pool;
      return [name, { share, isNext: share === lowest && !isShared, of }];
    }),
  );
}

/** Of the spaces in which somebody waits, those with the lowest share: of these the earliest request is next. */
export function nextSpaces(spaces: readonly Space[]): readonly Space[] {
  const waiting = spaces.filter(({ waiting: count }) => count > 0);
  const lowest = Math.min(...waiting.map(({ share }) => share));
  return waiting.filter(({ share }) => share === lowest);
}

/** The figure and what stands beside it. */
export function nextWords([first, ...others]: readonly Space[]): readonly [string, string] {
  if (first === undefined) return ["–", "nobody waits"];
  const share = `share ${first.share.toFixed(2)}`;
  if (others.length === 0) return [first.name, share];
  return [`${others.length + 1} spaces`, `${share}; the earliest request is next`];
}
