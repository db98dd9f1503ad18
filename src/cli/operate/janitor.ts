import { roughDuration } from "../../core/model/duration.ts";
import type { CleaningSpec } from "../../workers/janitor/cleaner.ts";
import { parallelDefault } from "../../workers/janitor/janitor.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { mustBeThere } from "../run/command-process.ts";
import { whoIAm } from "../run/holder.ts";
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
  args: [["[cmd...]", "what cleans one resource, behind --"]],
  options: [
    flag("--config <file>", "clean as janitor: says in the pools of this file, instead of CMD"),
    repeatedFlag("--pool <pool>", "whose dirty resources to clean; repeat it for more", poolName),
    repeatedFlag("--env <name=text>", "a variable for the command", variable),
    repeatedFlag("--user-data <name=key>", "a variable with a value of its user data", variable),
    flag("--timeout <duration>", "stop a command after so long; 30m unless given", duration()),
    flag(
      "--parallel <n>",
      `how many to clean at once; ${parallelDefault} unless given`,
      wholeNumber(1, 1_000),
    ),
  ],
  passThrough: true,
  help: `
The command finds BERTH_RESOURCE and BERTH_POOL in its environment, and what --env and --user-data
map; of the janitor's own environment it gets only PATH, HOME, TMPDIR, LANG and TZ. Exit 0 frees the
resource. Otherwise it rests and is tried again; after the pool's retries it is quarantined, and its
note has the last output: berth resources -o wide. Fix it and bring it back: berth free.
A pool with janitor: in the server's configuration is cleaned by the server itself, unless that is
started with --no-janitor; then berth janitor --config FILE does the same from elsewhere.`,
  async run(context) {
    const flags = context.flags<Flags>();
    const specs =
      flags.config === undefined
        ? specsOf(flags, context.args)
        : await specsFrom(flags.config, flags, context.args);
    return work(context, specs);
  },
};

function specsOf(flags: Flags, command: readonly string[]): CleaningSpec[] {
  const { pool = [], env = [], userData = [], parallel = parallelDefault } = flags;
  const [file] = command;
  if (file === undefined) {
    const hint = "Put it behind --: berth janitor --pool aws-account -- ./clean-account.sh";
    throw usageError("Cannot clean: no command is given", hint);
  }
  if (pool.length === 0) {
    throw usageError("Cannot clean: no pool is named", "Name it with --pool; see: berth pools");
  }
  mustBeThere(file);
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

/** What the server would do by itself, done here. */
async function specsFrom(
  file: string,
  { pool: only }: Flags,
  command: readonly string[],
): Promise<readonly CleaningSpec[]> {
  if (command.length > 0) {
    throw usageError("Cannot clean: both --config and a command are given", "Leave one away");
  }
  const { loadConfig } = await import("../../config/load.ts");
  const { formatProblem } = await import("../../config/problem.ts");
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
    "Add janitor: { command: [./clean.sh] } to a pool, or give a command",
  );
}

/** Until it is told to stop; what is under way then is broken off and given back dirty. */
async function work(
  { client, note, flags }: Context,
  specs: readonly CleaningSpec[],
): Promise<number> {
  const { ClientWork } = await import("../../workers/janitor/client-work.ts");
  const { Janitor } = await import("../../workers/janitor/janitor.ts");
  await client.everyPool();
  const janitor = new Janitor(new ClientWork(client, `janitor/${whoIAm()}`), specs, {
    parallel: flags<Flags>().parallel ?? parallelDefault,
    started: ({ resource, pool }) => note(`${plain(resource)} of ${plain(pool)}: cleaning`),
    ended: ({ resource, pool }, cleaned, durationMs) => {
      const took = roughDuration(durationMs);
      const what = cleaned.how === "failed" ? `failed\n${plain(cleaned.output)}` : cleaned.how;
      note(`${plain(resource)} of ${plain(pool)}: after ${took} ${what}`);
    },
    trouble: (cause) => note(`berth: ${plain(String(cause))}; trying again`),
  });
  note(`Cleaning ${specs.map(({ pool }) => pool).join(", ")} of ${client.url}; Ctrl-C stops it`);
  const signal = await new Promise<"SIGINT" | "SIGTERM">((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
  });
  await janitor.stop();
  return exitCodeOfSignal(signal);
}
