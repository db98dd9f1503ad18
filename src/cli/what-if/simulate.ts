import type { Simulation, StatsPart } from "../../api/history-schemas.ts";
import { formatDuration } from "../../core/model/duration.ts";
import type { State } from "../../core/model/state.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag, outputFlag, repeatedFlag } from "../flags.ts";
import { formatSeconds } from "../show/age.ts";
import { formatData } from "../show/listing.ts";
import { formatPercent } from "../show/stats.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { duration, matching } from "../values.ts";
import { pacing } from "./simulate-pacing.ts";

interface Flags {
  readonly from?: string;
  readonly last: number;
  readonly set?: readonly string[];
  readonly config?: string;
  readonly output: "table" | "wide" | "json" | "yaml";
  readonly headers: boolean;
}

const setting = matching(/^[^=]+\.[^=.]+=./, 512, "POOL.KEY=VALUE, such as aws-account.count=12");
const weekMs = 7 * 24 * 3_600_000;

export const simulate: CliCommand = {
  subcommands: {
    pacing: { summary: "Compare ways to lend to a herd of installers", command: pacing },
  },
  options: [
    flag("--from <data>", "a data folder or its journal.db; the server's own history unless given"),
    flag(
      "--last <duration>",
      "how much of the past; 7d unless given",
      duration({ minMs: 1_000 }),
    ).default(weekMs, "7d"),
    repeatedFlag(
      "--set <pool.key=value>",
      "another value, as the file has it; repeatable",
      setting,
    ),
    flag("--config <file>", "all pools as in this file, instead of those in force; with --from"),
    outputFlag("table", "wide", "json", "yaml"),
    flag("--no-headers", "tables without their first line"),
  ],
  help: `
Replays who asked when, for what and for how long; who waits how long follows anew from the rules.
Prints for each pool that changes what was and what would have been, and for all together where others
feel it: those that are asked for together with it, or share a limit. Without --set that is everybody.

  berth simulate --from .berth --last 7d --set aws-account.count=12 --set aws-account.cooldown=1m`,
  async run(context) {
    const { from, last, set = [], config, output, headers } = context.flags<Flags>();
    if (from === undefined && config !== undefined) {
      throw usageError("Cannot use --config: only with --from", "Add --from DIR, or use --set");
    }
    const found =
      from === undefined
        ? await context.client.simulate({ last: formatDuration(last), set: [...set] })
        : await simulateHere(context, { from, last, set, config });
    if (output === "json" || output === "yaml") context.print(await formatData(found, output));
    else tell(context, found, { wide: output === "wide", headers, set });
    return undefined;
  },
};

interface Wanted {
  readonly from: string;
  readonly last: number;
  readonly set: readonly string[];
  readonly config: string | undefined;
}

/** In this process, from files: no server is asked, and none is held up. */
async function simulateHere({ screen }: Context, wanted: Wanted): Promise<Simulation> {
  const { readPast } = await import("../../insight/what-if/from-data.ts");
  const { whatIf } = await import("../../insight/what-if/what-if.ts");
  const { reportOf } = await import("../../insight/what-if/report.ts");
  const bar = new ProgressBar(screen);
  try {
    const past = await readPast(wanted.from, wanted.last);
    const { pools, changed } = await poolsFor(past.now.state, wanted);
    const to = past.now.at + 1; // The last thing that happened counts.
    const range = { from: to - wanted.last, to };
    const run = whatIf({ ...range, pools, ...changed }, past.source);
    for (;;) {
      const step = run.next();
      if (step.done) return reportOf(step.value);
      bar.show(step.value, `of ${formatDuration(wanted.last)} replayed`);
    }
  } catch (error) {
    throw inWords(error);
  } finally {
    bar.end();
  }
}

async function poolsFor(state: State, { set, config }: Pick<Wanted, "set" | "config">) {
  const { poolsInForce } = await import("../../insight/what-if/in-force.ts");
  const { changedBy, parseSetting, withSettings } = await import(
    "../../insight/what-if/settings.ts"
  );
  const pools = config === undefined ? poolsInForce(state) : await poolsOf(config);
  const names = pools.map(({ name }) => name);
  const settings = set.map((text) => parseSetting(text, names));
  // Another file may differ anywhere.
  const changed = config === undefined ? changedBy(settings) : {};
  return { pools: withSettings(pools, settings), changed };
}

async function poolsOf(file: string) {
  const { loadConfig } = await import("../../config/load.ts");
  const { formatProblem } = await import("../../config/problem.ts");
  const parsed = await loadConfig(file);
  if (parsed.ok) return parsed.pools;
  const hint = `Fix the file, then check it with: berth config check ${file}`;
  throw new CliError(
    parsed.problems.map(formatProblem).join("\n"),
    hint,
    exitCodes.badConfiguration,
  );
}

/** What the journal and the settings have to say knows its words, but no exit code. */
function inWords(error: unknown): unknown {
  if (!(error instanceof Error) || !("hint" in error) || "exitCode" in error) return error;
  const code = error.name === "BadSetting" ? exitCodes.usage : exitCodes.notFound;
  return new CliError(error.message, String(error.hint), code);
}

type Row = Simulation["total"];

function beside(header: string, read: (part: StatsPart) => string, wide = false): Column<Row> {
  return {
    header,
    cell: ({ recorded, simulated }) => `${read(recorded)} → ${read(simulated)}`,
    wide,
  };
}

const columns: readonly Column<Row>[] = [
  { header: "POOL", cell: ({ pool }) => pool ?? "all" },
  beside("WAIT P50", ({ waitSeconds }) => formatSeconds(waitSeconds?.p50 ?? null)),
  beside("P90", ({ waitSeconds }) => formatSeconds(waitSeconds?.p90 ?? null)),
  beside("P99", ({ waitSeconds }) => formatSeconds(waitSeconds?.p99 ?? null)),
  beside("USED", ({ utilisation }) => formatPercent(utilisation)),
  beside("ENDED/H", ({ endedPerHour }) => endedPerHour.toFixed(1)),
  beside("GRANTED", ({ granted }) => String(granted), true),
  beside("LEFT", ({ left }) => String(left), true),
  beside("WAIT MAX", ({ waitSeconds }) => formatSeconds(waitSeconds?.max ?? null), true),
];

function tell(
  { print, note, screen }: Context,
  found: Simulation,
  { wide, headers, set }: { wide: boolean; headers: boolean; set: readonly string[] },
): void {
  const { from, to, requests, refused, pools, total, unknowns } = found;
  const touched = pools.filter(({ pool }) => set.some((text) => text.startsWith(`${pool}.`)));
  const shown = wide || touched.length === 0 ? pools : touched;
  const rows = pools.length > 1 ? [...shown, total] : shown;
  note(`${requests} requests from ${from} to ${to}; what was → what would have been`);
  if (refused > 0) note(`${refused} are left out: no pool of this configuration could hold them`);
  print(tableLines(columns, rows, { wide, headers, width: screen.width() }).join("\n"));
  note(`\nWhat this cannot know:\n${unknowns.map((text) => `- ${text}`).join("\n")}`);
}
