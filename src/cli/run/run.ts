import { basename } from "node:path";
import type { HeldLease } from "../../client/berth-client.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodeHelp } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { flag, type GlobalFlags, onceFlag, repeatedFlag } from "../flags.ts";
import { poolsOf } from "../show/leases.ts";
import { plain } from "../terminal/text.ts";
import { duration } from "../values.ts";
import { requireExecutable } from "./command-process.ts";
import { type FailOpenFlags, failOpenOptions, orFailOpen } from "./fail-open.ts";
import {
  type PlanFlags,
  parseNamedLease,
  planRequest,
  planVariables,
  readPlan,
} from "./job-plan.ts";
import { refuseVariableClashes } from "./lease-variables.ts";
import { formatPools, namedPools, requestOptions } from "./request-flags.ts";
import { runWithLease, runWithoutLease } from "./run-command.ts";
import { Sidecar, type SidecarFlags, sidecarOptions } from "./sidecar.ts";
import { SignalRouter } from "./signals.ts";
import { waitForLease } from "./wait-for-lease.ts";

export interface RunFlags extends PlanFlags, SidecarFlags, FailOpenFlags, GlobalFlags {
  readonly name?: string;
  readonly grace?: number;
}

export const run: CliCommand = {
  args: [["[cmd...]", "the command and its arguments, after --"]],
  options: [
    ...requestOptions(),
    onceFlag(
      "--profile <name>",
      "lease from the pool of this profile in the server's configuration",
    ),
    repeatedFlag(
      "--lease <env=pool[:n]>",
      "like --pool, and pass the resources to CMD in this variable",
      parseNamedLease,
    ),
    flag("--name <test>", "the name in log lines; default: the command's name"),
    flag(
      "--grace <duration>",
      "time between TERM and KILL when the lease is lost; default 30s",
      duration(),
    ),
    ...failOpenOptions(),
    ...sidecarOptions(),
  ],
  passThrough: true,
  help: `
Environment of CMD: BERTH_LEASE_ID, BERTH_LEASE_TOKEN, BERTH_URL, BERTH_LEASE_FILE (the lease as JSON),
and for each pool BERTH_RESOURCE_<POOL> and BERTH_FENCE_<POOL> (aws-account: AWS_ACCOUNT).
With --proxy, --profile or --try also: LEASE_PROXY_SERVER_URL, LEASE_PROXY_CLIENT_SH, SHARED_DIR,
LEASED_RESOURCE, CLUSTER_PROFILE_NAME, CLUSTER_PROFILE_SET_NAME, CLUSTER_TYPE, IP_POOL_AVAILABLE.
For a cluster also: KUBECONFIG (a private file, removed when CMD ends), BERTH_KUBECONFIG_<POOL>, and
KUBEADMIN_PASSWORD_FILE if it has a password.
Signals are forwarded to CMD and its child processes; heartbeats continue until CMD has exited.

Examples:
  berth run --pool aws-account -- ./e2e.sh                      one resource while the script runs
  berth run --pool aws-account:2 --pool install-slot -- make    all three, or wait for all
  berth run --pool east,west --timeout 30m -- make              of either pool; wait 30m at most
  berth run --pool ocp-4.20 -- kubectl get nodes                a cluster, destroyed afterwards
  berth run --lease ACCOUNT=aws-account -- sh -c 'echo $ACCOUNT'
  berth run --pool install-slot --timeout 20m --fail-open-always -- ./install.sh
                                                                never fails because of the lease
  berth run --proxy -- ./steps.sh                               steps lease by themselves
${exitCodeHelp}`,
  async run(context) {
    const flags = context.flags<RunFlags>();
    const [file] = context.args;
    if (file === undefined) {
      const hint = "Add it after --: berth run --pool POOL -- make test";
      throw usageError("Cannot run: no command is given", hint);
    }
    const name = flags.name ?? basename(file);
    requireExecutable(file);
    const router = new SignalRouter();
    const wanted = await orFailOpen(context, async () => {
      const plan = await readPlan(context);
      return { plan, ask: needsInitialLease(flags) ? planRequest(flags, plan, name) : undefined };
    });
    const pools = wanted?.ask === undefined ? [] : namedPools(wanted.ask);
    refuseVariableClashes([...pools, ...(flags.try ?? []).map(({ pool }) => pool)]);
    if (wanted !== undefined && wanted.ask === undefined) {
      return runWithoutLease(context, router, await Sidecar.start(context, { name }));
    }
    const { plan, ask } = wanted ?? {};
    if (ask !== undefined) {
      context.note(`Acquiring leases for test ${plain(name)}: [${formatPools(ask)}]`);
    }
    const lease =
      ask && (await orFailOpen(context, () => waitForLease(context, ask, flags, router)));
    if (lease === undefined || plan === undefined) {
      const sidecar = await Sidecar.start(context, { name });
      return runWithoutLease(context, router, sidecar, { BERTH_FAIL_OPEN: "true" });
    }
    for (const pool of poolsOf(lease.claims)) context.note(formatAcquired(lease, pool));
    return runWithLease(context, lease, name, router, {
      variables: planVariables(plan, lease),
      startSidecar: (region) => Sidecar.start(context, { name, profile: plan.profile, region }),
    });
  },
};

/** With only `--proxy` or `--try`, the job leases later and needs no lease before CMD starts. */
function needsInitialLease({ pool, lease, profile, proxy, try: tried }: RunFlags): boolean {
  const named = pool !== undefined || lease !== undefined || profile !== undefined;
  return named || !(proxy || tried !== undefined);
}

function formatAcquired({ claims }: HeldLease, pool: string): string {
  const names = claims.filter((claim) => claim.pool === pool).map(({ resource }) => resource);
  return plain(`Acquired ${names.length} lease(s) for ${pool}: [${names.join(" ")}]`);
}
