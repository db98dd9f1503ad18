import type { Pool } from "../../api/schemas.ts";
import { formatSeconds } from "./age.ts";
import type { Overview } from "./listing.ts";
import { outCount } from "./pools.ts";
import { formatPercent } from "./stats.ts";

/** The totals of the dashboard, and the pools that need attention if not all fit on the screen. */
export const poolOverview: Overview<Pool> = { title, choose, rest };

function title(pools: readonly Pool[]): string[] {
  const sum = (of: (pool: Pool) => number) => pools.reduce((total, pool) => total + of(pool), 0);
  const [total, held] = [sum((pool) => pool.total), sum((pool) => pool.held)];
  const oldest = pools.reduce((most, pool) => Math.max(most, pool.oldestWaitSeconds ?? -1), -1);
  const waiting = `${sum((pool) => pool.waiting)} waiting`;
  const count = `${pools.length} ${pools.length === 1 ? "pool" : "pools"}`;
  const use = `${held}/${total} held`;
  const queue = oldest < 0 ? waiting : `${waiting} up to ${formatSeconds(oldest)}`;
  const share = formatPercent(total === 0 ? null : held / total);
  const rest = [`${sum(({ free }) => free)} free`, `${sum(outCount)} out`];
  return [
    [count, `${use} (${share})`, ...rest, queue].join(" · "),
    [count, use, queue].join(" · "),
    [use, waiting].join(" · "),
  ];
}

/** Chooses pools with a queue, then the fullest ones. Keeps their order, so that rows do not move. */
function choose(pools: readonly Pool[], rows: number): readonly Pool[] {
  const share = ({ free, total }: Pool) => (total === 0 ? 0 : 1 - free / total);
  const byNeed = pools.toSorted((a, b) => {
    const queue = Number(b.waiting > 0) - Number(a.waiting > 0);
    return queue || (b.oldestWaitSeconds ?? 0) - (a.oldestWaitSeconds ?? 0) || share(b) - share(a);
  });
  const chosen = new Set(byNeed.slice(0, rows));
  return pools.filter((pool) => chosen.has(pool));
}

function rest(left: readonly Pool[]): string[] {
  const queues = left.filter(({ waiting }) => waiting > 0).length;
  const which = queues === 0 ? "none with a queue" : `${queues} with a queue`;
  const text = `… ${left.length} more not shown, ${which}`;
  return [`${text}; pass pool names to see them`, text, `… ${left.length} more, ${which}`];
}
