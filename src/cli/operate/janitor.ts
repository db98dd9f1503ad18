import { roughDuration } from "../../core/model/time.ts";
import type { CleaningSpec } from "../../workers/janitor/cleaner.ts";
import { parallelDefault } from "../../workers/janitor/janitor.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { requireExecutable } from "../run/command-process.ts";
import { userAtHost } from "../run/holder.ts";
import { exitCodeOfSignal } from "../run/signals.ts";
import { plain } from "../terminal/text.ts";
import { duration, InvalidValue, matching, type Parse, wholeNumber } from "../values.ts";

interface Flags {
  readonly config?: string;
  readonly pool?: readonly string[];
  readonly env?: readonly (readonly [string, string])[];
  readonly userData?: readonly (readonly [string, string])[];
  readonly timeout?: number;
  readonly parallel?: number;
}

const poolName = matching(/^\S+$/, 253, "the name of a pool");
const timeoutMsDefault = 30 * 60_000;

const variable: Parse<readonly [string, string]> = (text) => {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new InvalidValue("it is not NAME=VALUE", "Write it like REGION=eu-west-1");
};

export const janitor: CliCommand = {
  args: [["[cmd...]", "the command that cleans one resource, after --"]],
  options: [
    flag("--config <file>", "use the janitor: entries of this configuration file instead of CMD"),
    repeatedFlag("--pool <pool>", "pool whose dirty resources to clean; repeatable", poolName),
    repeatedFlag("--env <name=text>", "variable for the command", variable),
    repeatedFlag("--user-data <name=key>", "variable with a value of the user data", variable),
    flag("--timeout <duration>", "stop the command after this time; default 30m", duration()),
    flag(
      "--parallel <n>",
      `how many resources to clean at the same time; default ${parallelDefault}`,
      wholeNumber(1, 1_000),
    ),
  ],
  passThrough: true,
  help: `
Environment of the command: BERTH_RESOURCE, BERTH_POOL and the variables of --env and --user-data.
From the janitor's own environment it gets only PATH, HOME, TMPDIR, LANG and TZ. Exit code 0 frees
the resource. Otherwise the janitor retries after the cooldown. After the pool's retries it
quarantines the resource; the note has the last output: berth resources -o wide. Repair the
resource, then run berth free.
The server cleans pools with janitor: in its configuration itself. With berth serve --no-janitor it
does not; then run berth janitor --config FILE elsewhere.`,
  async run(context) {
    const flags = context.flags<Flags>();
    const specs =
      flags.config === undefined
        ? specsFromFlags(flags, context.args)
        : await specsFromConfig(flags.config, flags, context.args);
    return cleanUntilSignal(context, specs);
  },
};

function specsFromFlags(flags: Flags, command: readonly string[]): CleaningSpec[] {
  const { pool = [], env = [], userData = [], parallel = parallelDefault } = flags;
  const [file] = command;
  if (file === undefined) {
    const hint = "Add it after --: berth janitor --pool aws-account -- ./clean-account.sh";
    throw usageError("Cannot clean: no command is given", hint);
  }
  if (pool.length === 0) {
    throw usageError("Cannot clean: no pool is given", "Add --pool POOL; list them: berth pools");
  }
  requireExecutable(file);
  const mapped: CleaningSpec["env"] = Object.fromEntries([
    ...env,
    ...userData.map(([name, key]) => [name, { userData: key }] as const),
  ]);
  return pool.map((name) => ({
    pool: name,
    command,
    timeoutMs: flags.timeout ?? timeoutMsDefault,
    parallel,
    env: mapped,
  }));
}

/** Reads the pools' `janitor:` entries, as the server does without `--no-janitor`. */
async function specsFromConfig(
  file: string,
  { pool: only }: Flags,
  command: readonly string[],
): Promise<readonly CleaningSpec[]> {
  if (command.length > 0) {
    throw usageError("Cannot clean: both --config and a command are given", "Remove one of them");
  }
  const { loadConfig } = await import("../../config/load.ts");
  const { formatProblem } = await import("../../config/document.ts");
  const parsed = await loadConfig(file);
  if (!parsed.ok) {
    const [first] = parsed.problems;
    const what = first === undefined ? file : formatProblem(first);
    throw new CliError(what, `Check it: berth config check ${file}`, exitCodes.badConfiguration);
  }
  const specs = parsed.janitors.filter(({ pool }) => only === undefined || only.includes(pool));
  if (specs.length > 0) return specs;
  throw usageError(
    `Cannot clean: no pool in ${file} has a janitor`,
    "Add janitor: { command: [./clean.sh] } to a pool, or pass a command",
  );
}

/** Cleans until a signal. Then it stops running commands and releases their resources as dirty. */
async function cleanUntilSignal(
  { client, note, flags }: Context,
  specs: readonly CleaningSpec[],
): Promise<number> {
  const { ClientWork } = await import("../../workers/janitor/client-work.ts");
  const { Janitor } = await import("../../workers/janitor/janitor.ts");
  await client.everyPool();
  const janitor = new Janitor(new ClientWork(client, `janitor/${userAtHost()}`), specs, {
    parallel: flags<Flags>().parallel ?? parallelDefault,
    started: ({ resource, pool }) => note(`${plain(resource)} of ${plain(pool)}: cleaning`),
    finished: ({ resource, pool }, cleaned, durationMs) => {
      const took = roughDuration(durationMs);
      const what = cleaned.how === "failed" ? `failed\n${plain(cleaned.output)}` : cleaned.how;
      note(`${plain(resource)} of ${plain(pool)}: after ${took} ${what}`);
    },
    retrying: (cause) => note(`berth: ${plain(String(cause))}; retrying`),
  });
  note(`Cleaning ${specs.map(({ pool }) => pool).join(", ")} of ${client.url}; Ctrl-C stops it`);
  const signal = await new Promise<"SIGINT" | "SIGTERM">((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
  });
  await janitor.stop();
  return exitCodeOfSignal(signal);
}
