import { basename } from "node:path";
import { Problem } from "../api/problem.ts";
import type { AskBody } from "../api/schemas.ts";
import { BerthUnreachable, type HeldLease } from "../client/berth-client.ts";
import { type AskFlags, askOf, askOptions } from "./asking.ts";
import { Beside, type BesideFlags, besideOptions } from "./beside.ts";
import type { CliCommand, Context } from "./cli-command.ts";
import { mustBeThere } from "./command-process.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import { usageError } from "./failure.ts";
import { flag } from "./flags.ts";
import { refuseClashes } from "./lease-variables.ts";
import { poolsOf } from "./leases.ts";
import { runHolding, runWithout } from "./run-command.ts";
import { SignalDesk } from "./signals.ts";
import { plain } from "./text.ts";
import { duration } from "./values.ts";
import { waitForLease } from "./wait-for-lease.ts";

export interface RunFlags extends AskFlags, BesideFlags {
  readonly name?: string;
  readonly grace?: number;
  readonly failOpen?: boolean;
}

export const run: CliCommand = {
  args: [["[cmd...]", "the command and its arguments, behind --"]],
  options: [
    ...askOptions(),
    flag("--name <test>", "what the log calls it; the command's own name unless given"),
    flag(
      "--grace <duration>",
      "between TERM and KILL when the lease is lost; 30s unless given",
      duration(),
    ),
    flag(
      "--fail-open",
      "run CMD without a lease when the server cannot be reached or cannot serve",
    ),
    ...besideOptions(),
  ],
  passThrough: true,
  help: `
CMD finds in its environment: BERTH_LEASE_ID, BERTH_TOKEN, BERTH_URL, BERTH_LEASE_FILE (the lease
as JSON), and for each pool BERTH_RESOURCE_<POOL> and BERTH_FENCE_<POOL> (aws-account: AWS_ACCOUNT).
Signals are passed on to CMD and all that it started; heartbeats go on until it has ended.
${exitCodeHelp}`,
  async run(context) {
    const flags = context.flags<RunFlags>();
    const [file] = context.args;
    if (file === undefined) {
      const hint = "Put it behind --: berth run --pool POOL -- make test";
      throw usageError("Cannot run: no command is given", hint);
    }
    const name = flags.name ?? basename(file);
    mustBeThere(file);
    // Who only leases on the way asks for nothing before.
    const wantsOwn = flags.pool !== undefined || !flags.proxy;
    const ask = wantsOwn ? askOf(flags, name, "run") : undefined;
    refuseClashes(ask?.items.map(({ pool }) => pool) ?? []);
    const desk = new SignalDesk();
    const startBeside = () => Beside.start(context, name);
    if (ask === undefined) return runWithout(context, desk, await startBeside());
    const pools = ask.items.map(({ pool }) => pool);
    context.note(`Acquiring leases for test ${plain(name)}: [${pools.join(" ")}]`);
    const lease = await leaseOrNone(context, ask, desk);
    if (lease === undefined) {
      return runWithout(context, desk, await startBeside(), { BERTH_FAIL_OPEN: "true" });
    }
    for (const pool of poolsOf(lease.claims)) context.note(acquiredText(lease, pool));
    return runHolding(context, lease, name, desk, startBeside);
  },
};

/** Undefined: the server cannot be had, and the user would rather go on than wait for it. */
async function leaseOrNone(
  context: Context,
  ask: AskBody,
  desk: SignalDesk,
): Promise<HeldLease | undefined> {
  const flags = context.flags<RunFlags>();
  try {
    return await waitForLease(context, ask, flags, desk);
  } catch (error) {
    const unavailable =
      error instanceof BerthUnreachable || (error instanceof Problem && error.status >= 500);
    if (!unavailable || !flags.failOpen) throw error;
    context.note(`berth: ${plain(error.message)}`);
    context.note("berth: RUNNING WITHOUT A LEASE, as --fail-open says: others may use the same");
    return undefined;
  }
}

function acquiredText({ claims }: HeldLease, pool: string): string {
  const names = claims.filter((claim) => claim.pool === pool).map(({ resource }) => resource);
  return plain(`Acquired ${names.length} lease(s) for ${pool}: [${names.join(" ")}]`);
}
