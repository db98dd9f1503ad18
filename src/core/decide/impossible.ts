/** Why no amount of waiting would help, judged against empty pools; drained resources count as there. */
import { neverPasses } from "../gates/gates.ts";
import type { Ask, Item } from "../model/command.ts";
import type { PoolName } from "../model/ids.ts";
import type { Refusal } from "../model/refusal.ts";
import { isShared, type Need, type State } from "../model/state.ts";
import { poolsOf } from "../queue/alternatives.ts";
import { neverPlaced } from "../shared/never-fits.ts";

/** Undefined: at least one alternative could be had some day. */
export function impossible(
  state: State,
  ask: Ask,
  alternatives: readonly (readonly Need[])[],
): Refusal | undefined {
  const otherwise = lentOtherwise(state, ask);
  let first: Refusal | undefined;
  for (const needs of alternatives) {
    if (needs.some(({ pool }) => pool.retired)) continue;
    const refusal = otherwise ?? tooMuch(state, needs);
    if (refusal === undefined) return undefined;
    first ??= refusal;
  }
  return first;
}

/** A pool that an item names and that does not exist. */
export function unknownPool(state: State, { items }: Ask): PoolName | undefined {
  for (const { pool, anyOf = none } of items) {
    if (isGone(state, pool)) return pool;
    for (const name of anyOf) if (isGone(state, name)) return name;
  }
  return undefined;
}

const none: readonly PoolName[] = [];

/** An item of which no pool exists any more. */
export function goneItem(state: State, { items }: Ask): Item | undefined {
  return items.find((item) => poolsOf(item).every((name) => isGone(state, name)));
}

function isGone(state: State, name: PoolName): boolean {
  return state.pools.get(name)?.retired ?? true;
}

/** Shares are asked for with amounts, and whole resources without. */
function lentOtherwise(state: State, { items }: Ask): Refusal | undefined {
  for (const item of items) {
    for (const name of poolsOf(item)) {
      const pool = state.pools.get(name);
      if (pool === undefined) continue;
      const refusal = isShared(pool) ? onlyShares(name, item) : onlyWhole(name, item);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

/** What only makes sense where resources are shared. */
const shareKeys = [
  "amount",
  "selector",
  "tolerations",
  "spread",
  "atMost",
  "resource",
  "exclude",
  "strategy",
] as const satisfies (keyof Item)[];

function onlyWhole(pool: PoolName, item: Item): Refusal | undefined {
  const key = shareKeys.find((name) => item[name] !== undefined);
  return key === undefined ? undefined : { code: "lent_whole", pool, key };
}

function onlyShares(pool: PoolName, { state, into }: Item): Refusal | undefined {
  const isWhole = state !== undefined || into !== undefined;
  return isWhole ? { code: "lent_by_amount", pool } : undefined;
}

function tooMuch(state: State, needs: readonly Need[]): Refusal | undefined {
  for (const need of needs) {
    const refusal = need.sharing === "shared" ? neverPlaced(need) : tooMany(state, need);
    if (refusal !== undefined) return refusal;
  }
  return neverPasses(needs);
}

function tooMany(state: State, { pool, count }: Need): Refusal | undefined {
  if (count <= pool.size) return undefined;
  const size = Math.max(pool.size + arriving(state, pool.name), pool.policy.dynamic?.max ?? 0);
  return count > size ? { code: "never_fits", pool: pool.name, asked: count, size } : undefined;
}

/** How many are listed in this pool now and still held as another's. */
function arriving(state: State, pool: PoolName): number {
  let count = 0;
  for (const { movesTo } of state.resources.values()) if (movesTo?.pool === pool) count += 1;
  return count;
}
