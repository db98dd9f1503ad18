import type { ReplayedPart, Simulation } from "../../api/history-schemas.ts";
import type { Pool } from "../../api/schemas.ts";
import { startedWithin } from "../../api/started-within.ts";
import type { State } from "../../core/model/state.ts";
import { formatDuration } from "../../core/model/time.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag, outputFlag, repeatedFlag } from "../flags.ts";
import { formatMeasured } from "../show/age.ts";
import { formatData } from "../show/listing.ts";
import { formatPercent } from "../show/stats.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { countOf } from "../terminal/text.ts";
import { duration, matching } from "../values.ts";
import { pacing } from "./simulate-pacing.ts";
import { printComparison, valuesIn, variantsOf } from "./simulate-values.ts";

interface Flags {
  readonly from?: string;
  readonly last: number;
  readonly set?: readonly string[];
  readonly compare?: string;
  readonly config?: string;
  readonly output: "table" | "wide" | "json" | "yaml";
  readonly headers: boolean;
}

const setting = matching(/^[^=]+\.[^=.]+=./, 512, "POOL.KEY=VALUE, such as aws-account.count=12");
const weekMs = 7 * 24 * 3_600_000;

export const simulate: CliCommand = {
  subcommands: {
    pacing: { summary: "Compare pool policies under a burst of installers", command: pacing },
  },
  options: [
    flag("--from <data>", "a data folder or its journal.db; default: the server's history"),
    flag("--last <duration>", "length of the replayed past", duration({ minMs: 1_000 })).default(
      weekMs,
      "7d",
    ),
    repeatedFlag(
      "--set <pool.key=value>",
      "change a setting, written as in the configuration file; repeatable",
      setting,
    ),
    flag(
      "--compare <pool.key=values>",
      "replay with several values of one setting, with commas between them",
      setting,
    ),
    flag("--config <file>", "use the pools of this file instead of the current ones; with --from"),
    outputFlag("table", "wide", "json", "yaml"),
    flag("--no-headers", "print tables without the header line"),
  ],
  help: `
Replays the recorded requests and their hold times against the changed settings. Prints the recorded
and the simulated figures of each changed pool, and the total if other pools are affected: those
requested together with it, or with the same parent limit. Without --set it prints all pools.

  berth simulate --from .berth --last 7d --set aws-account.count=12 --set aws-account.cooldown=1m

With --compare it prints one line for each value, and the pool as it is:

  berth simulate --last 7d --compare aws-account.count=8,10,12,16`,
  async run(context) {
    const { from, last, set = [], compare, config, output, headers } = context.flags<Flags>();
    if (compare !== undefined) return await compareValues(context, compare);
    if (from === undefined && config !== undefined) {
      throw usageError("Cannot use --config without --from", "Add --from DIR, or use --set");
    }
    const found =
      from === undefined
        ? await context.client.simulate({ last: formatDuration(last), set: [...set] })
        : await simulateHere(context, { from, last, set, config });
    if (output === "json" || output === "yaml") context.print(await formatData(found, output));
    else printReport(context, found, { wide: output === "wide", headers, set });
    return undefined;
  },
};

/** Several values side by side. The server replays them, as it does for the page. */
async function compareValues(context: Context, text: string): Promise<undefined> {
  const { client, print, flags } = context;
  const { from, last, set, config, output, headers } = flags<Flags>();
  if (from !== undefined || set !== undefined || config !== undefined) {
    throw usageError("Cannot use --compare with --from, --set or --config", "Use it alone");
  }
  const wanted = valuesIn(text);
  const { pool } = wanted;
  const body = { pool, last: formatDuration(last), variants: variantsOf(wanted) };
  const found = await client.compareVariants(body);
  if (output === "json" || output === "yaml") print(await formatData(found, output));
  else {
    const today = todayOf(await client.pool(pool), wanted.key);
    printComparison(context, wanted, found, { wide: output === "wide", headers, today });
  }
  return undefined;
}

/** The value in force, for the settings that are compared most. */
function todayOf({ total, limit, flow }: Pool, key: string): string | undefined {
  if (key === "count") return String(total);
  if (key === "limit") return limit === undefined ? undefined : String(limit.limit);
  if (key !== "pace.every" || flow.everySeconds === null) return undefined;
  return formatDuration(flow.everySeconds * 1_000);
}

interface LocalSimulation {
  readonly from: string;
  readonly last: number;
  readonly set: readonly string[];
  readonly config: string | undefined;
}

/** Simulates in this process, from files. Does not need or slow down a server. */
async function simulateHere({ screen }: Context, wanted: LocalSimulation): Promise<Simulation> {
  const { readPast } = await import("../../insight/what-if/from-data.ts");
  const { whatIf } = await import("../../insight/what-if/what-if.ts");
  const { reportOf } = await import("../../insight/what-if/report.ts");
  const bar = new ProgressBar(screen);
  try {
    const past = await readPast(wanted.from, wanted.last);
    const { pools, tenancy, changed, inForce } = await poolsFor(past.now.state, wanted);
    const to = past.now.at + 1; // Includes the last event.
    const range = { from: to - wanted.last, to };
    const run = whatIf({ ...range, pools, tenancy, inForce, ...changed }, past.source);
    for (;;) {
      const step = run.next();
      if (step.done) return reportOf(step.value);
      bar.show(step.value, `of ${formatDuration(wanted.last)} replayed`);
    }
  } catch (error) {
    throw withExitCode(error);
  } finally {
    bar.end();
  }
}

async function poolsFor(state: State, { set, config }: Pick<LocalSimulation, "set" | "config">) {
  const { poolsInForce, tenancyInForce } = await import("../../insight/what-if/in-force.ts");
  const { variantOf } = await import("../../insight/what-if/variant.ts");
  const inForce = poolsInForce(state);
  const { pools, ...tenancy } =
    config === undefined
      ? { pools: inForce, ...tenancyInForce(state) }
      : await configurationOf(config);
  const { changed, ...variant } = variantOf(set, { pools, tenancy });
  // With another file, every pool may have changed.
  const isKnown = config === undefined && changed !== undefined;
  return { ...variant, inForce, changed: isKnown ? { changed } : {} };
}

async function configurationOf(file: string) {
  const { loadConfig } = await import("../../config/load.ts");
  const { formatProblem } = await import("../../config/document.ts");
  const parsed = await loadConfig(file);
  if (parsed.ok) {
    const { pools, spaces, priorities } = parsed;
    return { pools, spaces, priorities };
  }
  const hint = `Fix the file, then check it with: berth config check ${file}`;
  throw new CliError(
    parsed.problems.map(formatProblem).join("\n"),
    hint,
    exitCodes.badConfiguration,
  );
}

/** Errors of the journal and of the settings have a message and a hint, but no exit code. */
function withExitCode(error: unknown): unknown {
  if (!(error instanceof Error) || !("hint" in error) || "exitCode" in error) return error;
  const code = error.name === "BadSetting" ? exitCodes.usage : exitCodes.notFound;
  return new CliError(error.message, String(error.hint), code);
}

type Row = Simulation["total"];

function beforeAndAfter(
  header: string,
  read: (part: ReplayedPart) => string,
  wide = false,
): Column<Row> {
  return {
    header,
    cell: ({ recorded, simulated }) => `${read(recorded)} → ${read(simulated)}`,
    wide,
  };
}

const columns: readonly Column<Row>[] = [
  { header: "POOL", cell: ({ pool }) => pool ?? "all" },
  beforeAndAfter("WAIT P50", (part) => formatMeasured(startedWithin(part, "p50"))),
  beforeAndAfter("P90", (part) => formatMeasured(startedWithin(part, "p90"))),
  beforeAndAfter("P99", (part) => formatMeasured(startedWithin(part, "p99"))),
  beforeAndAfter("USED", ({ utilisation }) => formatPercent(utilisation)),
  beforeAndAfter("ENDED/H", ({ endedPerHour }) => endedPerHour.toFixed(1)),
  beforeAndAfter("GRANTED", ({ granted }) => String(granted), true),
  beforeAndAfter("LEFT", ({ left }) => String(left), true),
  beforeAndAfter("WAIT MAX", ({ waitSeconds }) => formatMeasured(waitSeconds?.max ?? null), true),
];

function printReport(
  { print, note, screen }: Context,
  found: Simulation,
  { wide, headers, set }: { wide: boolean; headers: boolean; set: readonly string[] },
): void {
  const { from, to, requests, refused, pools, total, unknowns } = found;
  const touched = pools.filter(({ pool }) => set.some((text) => text.startsWith(`${pool}.`)));
  const shown = wide || touched.length === 0 ? pools : touched;
  const rows = pools.length > 1 ? [...shown, total] : shown;
  note(`${countOf(requests, "request")} from ${from} to ${to}; recorded → simulated`);
  if (refused > 0) {
    note(`${countOf(refused, "request")} left out: no pool of this configuration fits`);
  }
  print(tableLines(columns, rows, { wide, headers, width: screen.width() }).join("\n"));
  note(`\nLimits of the simulation:\n${unknowns.map((text) => `- ${text}`).join("\n")}`);
}
