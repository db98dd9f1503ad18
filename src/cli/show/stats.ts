import type { Stats, StatsPart } from "../../api/history-schemas.ts";
import { formatDuration } from "../../core/model/time.ts";
import type { CliCommand } from "../cli-command.ts";
import { flag, onceFlag, outputFlag } from "../flags.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { duration } from "../values.ts";
import { formatMeasured } from "./age.ts";
import { formatData } from "./listing.ts";

interface Flags {
  readonly pool?: string;
  readonly window?: number;
  readonly step?: number;
  readonly until?: string;
  readonly output: "table" | "wide" | "json" | "yaml";
  readonly headers: boolean;
}

/** One line of the table: a step, or the total. */
interface Row {
  readonly name: string;
  readonly part: StatsPart;
}

const columns: readonly Column<Row>[] = [
  { header: "FROM", cell: ({ name }) => name, whole: true },
  { header: "ASKED", cell: ({ part }) => String(part.asked), align: "right" },
  { header: "GRANTED", cell: ({ part }) => String(part.granted), align: "right" },
  { header: "WAIT P50", cell: ({ part }) => formatMeasured(part.waitSeconds?.p50 ?? null) },
  { header: "WAIT P90", cell: ({ part }) => formatMeasured(part.waitSeconds?.p90 ?? null) },
  { header: "HOLD P50", cell: ({ part }) => formatMeasured(part.holdSeconds?.p50 ?? null) },
  { header: "ENDED/H", cell: ({ part }) => perHour(part), align: "right" },
  { header: "USED", cell: ({ part }) => formatPercent(part.utilisation), align: "right" },
  { header: "EXPIRED", cell: ({ part }) => String(part.expired), align: "right" },
  { header: "LEFT", cell: ({ part }) => String(part.left), align: "right" },
  {
    header: "WAIT P99",
    cell: ({ part }) => formatMeasured(part.waitSeconds?.p99 ?? null),
    wide: true,
  },
  {
    header: "WAIT MAX",
    cell: ({ part }) => formatMeasured(part.waitSeconds?.max ?? null),
    wide: true,
  },
  {
    header: "HOLD P90",
    cell: ({ part }) => formatMeasured(part.holdSeconds?.p90 ?? null),
    wide: true,
  },
  {
    header: "HOLD P99",
    cell: ({ part }) => formatMeasured(part.holdSeconds?.p99 ?? null),
    wide: true,
  },
  { header: "ENDED", cell: ({ part }) => String(part.ended), align: "right", wide: true },
  {
    header: "CLEANED",
    cell: ({ part }) => String(part.upkeep?.cleaned ?? "-"),
    align: "right",
    wide: true,
  },
  {
    header: "CLEAN P50",
    cell: ({ part }) => formatMeasured(part.upkeep?.cleaningSeconds?.p50 ?? null),
    wide: true,
  },
  {
    header: "CLEAN FAILED",
    cell: ({ part }) => String(part.upkeep?.failed ?? "-"),
    align: "right",
    wide: true,
  },
];

const positive = duration({ minMs: 1_000 });

export const stats: CliCommand = {
  options: [
    onceFlag("--pool <pool>", "only this pool; default: all pools together"),
    flag("--window <duration>", "length of the window; default 24h", positive),
    flag("--step <duration>", "time per line; default: a 24th of the window", positive),
    flag("--until <time>", "end of the window; default: now"),
    outputFlag("table", "wide", "json", "yaml"),
    flag("--no-headers", "print tables without the header line"),
  ],
  help: `
Counts are claims. WAIT is for claims granted in the step, HOLD for claims that ended in it.
Cleaning is upkeep: it counts only in the CLEAN columns of -o wide.`,
  async run({ client, flags, note, print, screen }) {
    const { pool, window, step, until, output, headers } = flags<Flags>();
    const found = await client.stats({ pool, until, window: text(window), step: text(step) });
    if (output === "json" || output === "yaml") print(await formatData(found, output));
    else if (isIdle(found.total))
      note("Nothing was requested or held in this window. Use a longer --window");
    else {
      const options = { wide: output === "wide", headers, width: screen.width() };
      print(tableLines(columns, rowsOf(found), options).join("\n"));
    }
    return undefined;
  },
};

/** A table of zeros would hide that there is nothing to show. */
function isIdle({ asked, granted, ended, left, utilisation, upkeep }: StatsPart): boolean {
  const cleanings = (upkeep?.cleaned ?? 0) + (upkeep?.failed ?? 0);
  return asked + granted + ended + left + cleanings + (utilisation ?? 0) === 0;
}

const text = (durationMs: number | undefined) =>
  durationMs === undefined ? undefined : formatDuration(durationMs);

function rowsOf({ steps, total }: Stats): Row[] {
  const rows = steps.map(({ at, ...part }) => ({ name: at.slice(0, 16).replace("T", " "), part }));
  return [...rows, { name: "all", part: total }];
}

function perHour({ endedPerHour }: StatsPart): string {
  return endedPerHour >= 10 ? endedPerHour.toFixed(0) : endedPerHour.toFixed(1);
}

export function formatPercent(share: number | null): string {
  return share === null ? "-" : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;
}
