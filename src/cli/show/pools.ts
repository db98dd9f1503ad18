import { countsOf } from "../../api/pool-counts.ts";
import type { Pool } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Column } from "../terminal/table.ts";
import { formatLabels, formatMeasured, formatSeconds, timeUntil } from "./age.ts";
import { list, listOptions } from "./listing.ts";
import { usageBars } from "./usage-bars.ts";

function columnsFor(screen: Screen): readonly Column<Pool>[] {
  return [
    { header: "NAME", cell: nameWithMarks },
    { header: "TOTAL", cell: (pool) => String(totalCount(pool)), align: "right" },
    { header: "FREE", cell: (pool) => String(freeCount(pool)), align: "right" },
    { header: "HELD", cell: (pool) => String(heldCount(pool)), align: "right" },
    { header: "OUT", cell: (pool) => String(outCount(pool)), align: "right" },
    { header: "WAITING", cell: (pool) => String(waitingIn(pool).waiting), align: "right" },
    { header: "OLDEST", cell: (pool) => formatSeconds(waitingIn(pool).oldestWaitSeconds) },
    { header: "TTL", cell: ({ policy }) => policy.ttl },
    {
      header: "MEAN HOLD",
      cell: ({ meanHoldSeconds }) => formatMeasured(meanHoldSeconds),
      wide: true,
    },
    { header: "LIFETIME", cell: ({ policy }) => policy.lifetime ?? "-", wide: true },
    { header: "HOLD", cell: ({ policy }) => policy.hold ?? "-", wide: true },
    { header: "EVERY", cell: ({ flow }) => formatMeasured(flow.everySeconds), wide: true },
    { header: "RATE", cell: ({ flow }) => formatRate(flow), wide: true },
    { header: "LIMITS", cell: ({ flow }) => formatLimits(flow), wide: true },
    { header: "ADMISSION", cell: ({ admission }) => formatAdmission(admission), wide: true },
    { header: "ON RELEASE", cell: ({ policy }) => policy.onRelease, wide: true },
    { header: "ON EXPIRE", cell: ({ policy }) => policy.onExpire, wide: true },
    { header: "STATES", cell: ({ states }) => formatStates(states), wide: true },
    { header: "PLACE", cell: ({ place }) => place ?? "-", wide: true },
    { header: "USAGE", cell: ({ usage = [] }) => usageBars(usage, screen.unicode), wide: true },
  ];
}

export const pools: CliCommand = {
  args: [["[pool...]", "only these pools"]],
  options: listOptions(),
  help: `
OUT counts resources that are neither free nor in use: drained, dirty, being cleaned,
quarantined, cooling.
A pool that is only a limit shows the use of its limit, and who waits for the pools below it. List
the holders: berth leases --pool POOL
A shared pool shows the dimension that it has least of.`,
  completes: poolNames,
  run: (context) =>
    list(context, {
      columns: columnsFor(context.screen),
      nameOf: ({ name }) => name,
      read: () => readPools(context, context.args),
      emptyText: "There are no pools. Add one to the server's configuration file.",
    }),
};

export function readPools({ client }: Context, names: readonly string[]): Promise<Pool[]> {
  if (names.length === 0) return client.everyPool();
  return Promise.all(names.map((name) => client.pool(name)));
}

export async function poolNames({ client }: Context): Promise<string[]> {
  return (await client.everyPool()).map(({ name }) => name);
}

export function heldCount(pool: Pool): number {
  return countsOf(pool).held;
}

export function totalCount(pool: Pool): number {
  return countsOf(pool).total;
}

export function freeCount(pool: Pool): number {
  return countsOf(pool).free;
}

export function waitingIn(pool: Pool): Pick<Pool, "waiting" | "oldestWaitSeconds"> {
  return countsOf(pool);
}

/** The dimension that the counts of a shared pool are of. */
export function unitMark(pool: Pool): string {
  const { unit } = countsOf(pool);
  return unit === "" ? "" : ` (${unit})`;
}

/** Formats the start rate, such as `2.5/m (pinned)`. */
function formatRate({ rate, advisedRate, pinned }: Pool["flow"]): string {
  const shown = rate ?? advisedRate;
  if (shown === null) return "-";
  const how = pinned !== null ? " (pinned)" : rate === null ? " (advised)" : "";
  return `${Math.round(shown * 100) / 100}/m${how}`;
}

function formatLimits({ limits }: Pool["flow"]): string {
  return limits.map(({ pool, used, limit }) => `${pool} ${used}/${limit}`).join(", ") || "-";
}

/** The number of admission credits, or why there are none. Older servers send no admission. */
function formatAdmission(admission: Pool["admission"] | undefined): string {
  if (!admission) return "-";
  const { credits, until, why } = admission;
  if (credits > 0) return `${credits} for ${timeUntil(until)}`;
  return why === null ? "0" : `0: ${why}`;
}

/** Counts the resources that are neither held nor free. */
export function outCount(pool: Pool): number {
  return Math.max(0, pool.total - pool.free - pool.held);
}

export function formatStates(states: Readonly<Record<string, number>>): string {
  return formatLabels(Object.fromEntries(Object.entries(states).map(([k, n]) => [k, String(n)])));
}

/** For operators: what of the pool is out of the ordinary. */
export function nameWithMarks(pool: Pool): string {
  const limit = pool.limit === undefined ? "" : " (limit)";
  return `${pool.name}${unitMark(pool)}${limit}${pool.retiring ? " (retiring)" : ""}${suspendedMark(pool)}`;
}

/** A decision on the pool has failed, and nothing is lent. */
export function suspendedMark({ suspended }: Pool): string {
  return suspended === null ? "" : " (suspended)";
}
