import type { ReplayedPart, SimulatedVariants } from "../../api/history-schemas.ts";
import { startedWithin } from "../../api/started-within.ts";
import type { Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { formatMeasured } from "../show/age.ts";
import { formatPercent } from "../show/stats.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { countOf } from "../terminal/text.ts";

/** Several values of one setting, to be compared: `aws-account.count=8,12,16`. */
export interface ComparedValues {
  readonly pool: string;
  readonly key: string;
  readonly values: readonly string[];
}

/** As many as one call may ask for, with the pool as it is. */
const valuesMax = 15;

export function valuesIn(text: string): ComparedValues {
  const [setting = "", list = ""] = text.split(/=(.*)/s);
  const dot = setting.indexOf(".");
  const values = [...new Set(list.split(",").map((value) => value.trim()))];
  if (values.includes("") || values.length > valuesMax) {
    const state = values.includes("") ? "a value is empty" : `it has ${values.length} values`;
    throw usageError(
      `Cannot compare "${text}": ${state}`,
      `Write up to ${valuesMax} values with commas, such as aws-account.count=8,12,16`,
    );
  }
  return { pool: setting.slice(0, dot), key: setting.slice(dot + 1), values };
}

/** The settings of each variant; the first is the pool as it is. */
export function variantsOf({ pool, key, values }: ComparedValues): string[][] {
  return [[], ...values.map((value) => [`${pool}.${key}=${value}`])];
}

interface Row {
  readonly label: string;
  readonly part: ReplayedPart;
}

const right = { align: "right" } as const;

function columnsFor(key: string): readonly Column<Row>[] {
  const wait = (name: "p50" | "p90" | "p99") => (row: Row) =>
    formatMeasured(startedWithin(row.part, name));
  return [
    { header: key.toUpperCase(), cell: ({ label }) => label, whole: true },
    { header: "STARTED", cell: ({ part }) => startedOf(part), ...right },
    { header: "WAIT P50", cell: wait("p50"), ...right },
    { header: "P90", cell: wait("p90"), ...right },
    { header: "P99", cell: wait("p99"), ...right },
    { header: "USED", cell: ({ part }) => formatPercent(part.utilisation), ...right },
    { header: "ENDED/H", cell: ({ part }) => part.endedPerHour.toFixed(1), ...right },
    { header: "LEFT", cell: ({ part }) => String(part.left), wide: true, ...right },
  ];
}

/** `106 of 1438`: the waits beside it are of all of these, and empty if fewer started. */
function startedOf({ starts, granted }: ReplayedPart): string {
  return starts === undefined ? String(granted) : `${starts.started} of ${starts.claims}`;
}

interface Shown {
  readonly wide: boolean;
  readonly headers: boolean;
  /** The value in force, if it is known. */
  readonly today: string | undefined;
}

/** One line for each value. The pool as it is is among them, and is marked. */
export function printComparison(
  { print, note, screen }: Pick<Context, "print" | "note" | "screen">,
  { pool, key, values }: ComparedValues,
  { variants }: SimulatedVariants,
  { wide, headers, today }: Shown,
): void {
  const [asItIs] = variants;
  if (asItIs === undefined) return;
  const partOf = ({ simulation }: (typeof variants)[number]) =>
    simulation.pools.find((one) => one.pool === pool)?.simulated ?? simulation.total.simulated;
  const rows = values.flatMap((value, index): Row[] => {
    const variant = variants[index + 1];
    if (variant === undefined) return [];
    return [{ label: value === today ? `${value} (today)` : value, part: partOf(variant) }];
  });
  const isListed = today !== undefined && values.includes(today);
  const label = today === undefined ? "today" : `${today} (today)`;
  const all = isListed ? rows : [...rows, { label, part: partOf(asItIs) }];
  const { from, to, requests, unknowns } = asItIs.simulation;
  note(`${pool}: ${countOf(requests, "request")} from ${from} to ${to}, replayed with each value`);
  const sorted = all.toSorted((a, b) => byValue.compare(a.label, b.label));
  print(tableLines(columnsFor(key), sorted, { wide, headers, width: screen.width() }).join("\n"));
  note(`\nLimits of the simulation:\n${unknowns.map((text) => `- ${text}`).join("\n")}`);
}

/** 8 before 12. */
const byValue = new Intl.Collator("en", { numeric: true });
