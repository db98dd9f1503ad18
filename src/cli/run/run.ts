import { basename } from "node:path";
import { Problem } from "../../api/problem.ts";
import { BerthUnreachable, type HeldLease } from "../../client/berth-client.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodeHelp } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { poolsOf } from "../show/leases.ts";
import { plain } from "../terminal/text.ts";
import { duration } from "../values.ts";
import { mustBeThere } from "./command-process.ts";
import { namedLease, type PlanFlags, plannedAsk, planOf, planVariables } from "./job-plan.ts";
import { refuseClashes } from "./lease-variables.ts";
import { askOptions, namedPools, wantedText } from "./request-flags.ts";
import { runHolding, runWithout } from "./run-command.ts";
import { Beside, type BesideFlags, besideOptions } from "./sidecar.ts";
import { SignalDesk } from "./signals.ts";
import { waitForLease } from "./wait-for-lease.ts";

export interface RunFlags extends PlanFlags, BesideFlags {
  readonly name?: string;
  readonly grace?: number;
  readonly failOpen?: boolean;
}

export const run: CliCommand = {
  args: [["[cmd...]", "the command and its arguments, behind --"]],
  options: [
    ...askOptions(),
    flag("--profile <name>", "lease what this profile of the server's configuration stands for"),
    repeatedFlag(
      "--lease <env=pool[:n]>",
      "as --pool, and told to CMD as this variable",
      namedLease,
    ),
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
With --proxy, --profile or --try also: LEASE_PROXY_SERVER_URL, LEASE_PROXY_CLIENT_SH, SHARED_DIR,
LEASED_RESOURCE, CLUSTER_PROFILE_NAME, CLUSTER_PROFILE_SET_NAME, CLUSTER_TYPE, IP_POOL_AVAILABLE.
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
    const desk = new SignalDesk();
    const wanted = await unlessAway(context, async () => {
      const plan = await planOf(context);
      return { plan, ask: asksAtOnce(flags) ? plannedAsk(flags, plan, name) : undefined };
    });
    const pools = wanted?.ask === undefined ? [] : namedPools(wanted.ask);
    refuseClashes([...pools, ...(flags.try ?? []).map(({ pool }) => pool)]);
    if (wanted !== undefined && wanted.ask === undefined) {
      return runWithout(context, desk, await Beside.start(context, { name }));
    }
    const { plan, ask } = wanted ?? {};
    if (ask !== undefined) {
      context.note(`Acquiring leases for test ${plain(name)}: [${wantedText(ask)}]`);
    }
    const lease = ask && (await unlessAway(context, () => waitForLease(context, ask, flags, desk)));
    if (lease === undefined || plan === undefined) {
      const beside = await Beside.start(context, { name });
      return runWithout(context, desk, beside, { BERTH_FAIL_OPEN: "true" });
    }
    for (const pool of poolsOf(lease.claims)) context.note(acquiredText(lease, pool));
    return runHolding(context, lease, name, desk, {
      variables: planVariables(plan, lease),
      start: (region) => Beside.start(context, { name, profile: plan.profile, region }),
    });
  },
};

/** Who leases on the way only asks for nothing before. */
function asksAtOnce({ pool, lease, profile, proxy, try: tried }: RunFlags): boolean {
  const named = pool !== undefined || lease !== undefined || profile !== undefined;
  return named || !(proxy || tried !== undefined);
}

/** Undefined: the server cannot be had, and the user would rather go on than wait for it. */
async function unlessAway<T>(context: Context, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const unavailable =
      error instanceof BerthUnreachable || (error instanceof Problem && error.status >= 500);
    if (!unavailable || !context.flags<RunFlags>().failOpen) throw error;
    context.note(`berth: ${plain(error.message)}`);
    context.note("berth: RUNNING WITHOUT A LEASE, as --fail-open says: others may use the same");
    return undefined;
  }
}

function acquiredText({ claims }: HeldLease, pool: string): string {
  const names = claims.filter((claim) => claim.pool === pool).map(({ resource }) => resource);
  return plain(`Acquired ${names.length} lease(s) for ${pool}: [${names.join(" ")}]`);
}
