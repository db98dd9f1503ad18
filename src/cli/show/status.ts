import type { Replicas } from "../../api/replica-schemas.ts";
import type { Pool } from "../../api/schemas.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { paint, type Screen } from "../terminal/screen.ts";
import { spark } from "../terminal/sparkline.ts";
import type { Column } from "../terminal/table.ts";
import { countOf } from "../terminal/text.ts";
import { formatAge, formatMeasured, formatSeconds } from "./age.ts";
import { noteAttention } from "./attention.ts";
import { type ListFlags, list, listOptions } from "./listing.ts";
import { poolOverview } from "./pool-overview.ts";
import {
  freeCount,
  heldCount,
  outCount,
  poolNames,
  readPools,
  suspendedMark,
  totalCount,
  unitMark,
  waitingIn,
} from "./pools.ts";
import { Trends } from "./trends.ts";

const barWidth = 12;
const sparkWidth = 15;
/** A narrower terminal has no room for both. The sparkline replaces the bar; its end shows the same. */
const bothWidthMin = 100;

/** A still narrower one has no room for the sparkline, and then none for OUT either. */
const sparkWidthMin = 80;
const outWidthMin = 60;

type HeldBefore = Pick<Trends, "known" | "heldIn">;

export function columnsFor(screen: Screen, trends: HeldBefore): readonly Column<Pool>[] {
  const width = screen.width() ?? bothWidthMin;
  const hasSpark = trends.known && width >= sparkWidthMin;
  const narrow = width < sparkWidthMin || (trends.known && width < bothWidthMin);
  return [
    { header: "POOL", cell: (pool) => `${pool.name}${unitMark(pool)}${suspendedMark(pool)}` },
    ...(narrow ? [] : [barColumn(screen)]),
    {
      header: narrow ? "HELD" : "",
      cell: (pool) => `${heldCount(pool)}/${totalCount(pool)}`,
      align: "right",
    },
    { header: "FREE", cell: (pool) => String(freeCount(pool)), align: "right" },
    ...(width < outWidthMin ? [] : [outColumn]),
    { header: "WAITING", cell: (pool) => String(waitingIn(pool).waiting), align: "right" },
    { header: "OLDEST", cell: (pool) => formatSeconds(waitingIn(pool).oldestWaitSeconds) },
    { header: "MEAN HOLD", cell: (pool) => formatMeasured(pool.meanHoldSeconds), wide: true },
    ...(hasSpark ? [sparkColumn(screen, trends)] : []),
  ];
}

const outColumn: Column<Pool> = {
  header: "OUT",
  cell: (pool) => String(outCount(pool)),
  align: "right",
};

function barColumn({ unicode }: Screen): Column<Pool> {
  return { header: "HELD", cell: (pool) => bar(pool, unicode), whole: true };
}

function sparkColumn({ unicode }: Screen, trends: HeldBefore): Column<Pool> {
  return {
    header: "LAST HALF HOUR",
    // Adds the current count, because the last sample may be old.
    cell: (pool) => {
      const top = totalCount(pool);
      return spark([...trends.heldIn(pool.name), heldCount(pool)], {
        top,
        width: sparkWidth,
        unicode,
      });
    },
    whole: true,
  };
}

export const status: CliCommand = {
  args: [["[pool...]", "only these pools"]],
  options: listOptions(),
  help: "\nOUT counts resources that are neither free nor in use: drained, dirty, being cleaned, quarantined, cooling.",
  completes: poolNames,
  run: async (context) => {
    const trends = new Trends(context);
    await noteAttention(context);
    await noteReplicas(context);
    return await list(context, {
      get columns() {
        return columnsFor(context.screen, trends); // The terminal may have been resized.
      },
      nameOf: ({ name }) => name,
      read: async () => {
        await trends.refresh();
        return readPools(context, context.args);
      },
      emptyText: "There are no pools. Add one to the server's configuration file.",
      colourLines: (lines) => colourBars(lines, context),
      overview: poolOverview,
    });
  },
};

/** Who leads of several servers, to stderr. */
async function noteReplicas({ client, flags, note }: Context): Promise<void> {
  const { output, watch } = flags<ListFlags>();
  if (watch || (output !== "table" && output !== "wide")) return;
  const found = await client.replicas().catch(() => undefined); // An older server does not know it.
  if (found !== undefined && found.self !== null) note(replicasLine(found));
}

export function replicasLine({ leader, leadsSince, replicas }: Replicas): string {
  const behind = replicas
    .filter((replica) => !replica.leads && !isReplaced(replica, replicas))
    .map(({ id, behindEvents, silentSeconds }) => {
      if (silentSeconds > silentSecondsMax)
        return `${id} silent for ${formatSeconds(silentSeconds)}`;
      return behindEvents === 0
        ? `${id} follows`
        : `${id} ${countOf(behindEvents, "event")} behind`;
    });
  const age = leadsSince === null ? "" : ` for ${formatAge(leadsSince)}`;
  const who = leader === null ? "No server leads" : `${leader} leads${age}`;
  return [who, ...behind].join("; ");
}

/** A server that was killed and started again is a new replica at the same address. */
function isReplaced({ address, startedAt }: Replica, all: readonly Replica[]): boolean {
  if (address === null) return false;
  const startedMs = Date.parse(startedAt);
  return all.some((other) => other.address === address && Date.parse(other.startedAt) > startedMs);
}

type Replica = Replicas["replicas"][number];

/** They report every second. */
const silentSecondsMax = 5;

/** A bar of held, out and free resources, in this order. */
export function bar(pool: Pool, unicode: boolean): string {
  const [held, out, free] = unicode ? ["█", "▒", "░"] : ["#", "x", "."];
  const total = totalCount(pool);
  const share = (count: number) => (total === 0 ? 0 : (count / total) * barWidth);
  // A part is never rounded to none or to all: 1 of 500 is visible, and so is 499 of 500.
  const cells = (count: number) => {
    if (count === 0) return 0;
    if (count >= total) return barWidth;
    return Math.min(barWidth - 1, Math.max(1, Math.round(share(count))));
  };
  const heldCells = cells(heldCount(pool));
  const outCells = Math.min(barWidth - heldCells, cells(outCount(pool)));
  const freeCells = barWidth - heldCells - outCells;
  return (
    (held ?? "").repeat(heldCells) + (out ?? "").repeat(outCells) + (free ?? "").repeat(freeCells)
  );
}

function colourBars(lines: readonly string[], { screen }: Context): string[] {
  return lines.map((line) =>
    line
      .replace(/█+/, (cells) => paint(screen, "blue", cells))
      .replace(/▒+/, (cells) => paint(screen, "yellow", cells))
      .replace(/░+/, (cells) => paint(screen, "dim", cells))
      .replace(/[▁-▇][▁-█ ]*$/, (cells) => paint(screen, "blue", cells)),
  );
}
