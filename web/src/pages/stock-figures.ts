/** How much several pools have. Hosts of shared pools are not counted as held or free: parts of them are. */
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import type { Figure } from "../parts/figures.tsx";
import { grouped, percent, percentLeft } from "../parts/numbers.ts";

export function sumOf(pools: readonly Pool[], of: (pool: Pool) => number): number {
  return pools.reduce((total, pool) => total + of(pool), 0);
}

/** `all`: of which pools these are some; undefined: these are all. */
export function stockFigures(
  pools: readonly Pool[],
  all: readonly Pool[] | undefined,
): readonly Figure[] {
  const [shared, whole] = [pools.filter(isShared), pools.filter((pool) => !isShared(pool))];
  return [
    ...(whole.length === 0 && shared.length > 0 ? [] : wholeFigures(whole, all)),
    ...(shared.length === 0 ? [] : [hostsFigure(shared)]),
  ];
}

function isShared({ usage }: Pool): boolean {
  return usage !== undefined;
}

function wholeFigures(pools: readonly Pool[], all: readonly Pool[] | undefined): Figure[] {
  const [total, held] = [sumOf(pools, (pool) => pool.total), sumOf(pools, (pool) => pool.held)];
  const ofAll = all?.filter((pool) => !isShared(pool));
  const of = ofAll === undefined ? "" : `of ${grouped(sumOf(ofAll, (pool) => pool.total))}`;
  return [
    { label: "Resources", value: total, aside: of },
    { label: "Held", value: held, aside: total === 0 ? "" : percent(held / total) },
    { label: "Free", value: sumOf(pools, ({ free }) => free) },
  ];
}

/** `Free vcpus 29 % of 4 hosts`, as in the row of the pool; several pools have no amount in common. */
function hostsFigure(pools: readonly Pool[]): Figure {
  const [first, ...more] = pools;
  const hosts = sumOf(pools, ({ total }) => total);
  if (first === undefined || more.length > 0) {
    return { label: "Shared hosts", value: hosts, aside: `in ${grouped(pools.length)} pools` };
  }
  const { unit, held, total } = countsOf(first);
  const aside = `of ${grouped(hosts)} ${hosts === 1 ? "host" : "hosts"}`;
  return { label: `Free ${unit}`, value: percentLeft(held / Math.max(1, total)), aside };
}
