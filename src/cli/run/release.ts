import { Option } from "commander";
import type { BerthClient } from "../../client/berth-client.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag, onceFlag } from "../flags.ts";
import { timeUntil } from "../show/age.ts";
import { leaseIds } from "../show/leases.ts";
import { matching, stateName, token } from "../values.ts";
import { userAtHost } from "./holder.ts";
import { type LeaseFlags, resolveLease } from "./lease-file.ts";
import { parseReport, type ReportFlags, reportOptions } from "./report.ts";

interface Flags extends LeaseFlags, ReportFlags {
  readonly gone?: true;
  readonly claim?: string;
  readonly state?: string;
  readonly force?: boolean;
  readonly reason?: string;
}

const reasonLengthMax = 1_024;

export const release: CliCommand = {
  args: [["[lease]", "the lease's id ($BERTH_LEASE_ID, or from $BERTH_LEASE_FILE)"]],
  options: [
    flag("--token <token>", "the lease's token ($BERTH_LEASE_TOKEN)", token),
    flag("--file <file>", "read id and token from a lease file"),
    onceFlag("--claim <claim>", "release this claim only; the rest of the lease stays"),
    flag("--state <state>", "set its resources to this state, such as dirty", stateName),
    ...reportOptions(),
    new Option("--force", "for operators: end another user's lease"),
    new Option("--gone", "with --force: its job is known to have stopped, do not wait for it"),
    flag(
      "--reason <why>",
      "with --force: the reason, shown to the holder",
      matching(/\S/, reasonLengthMax, "a reason in words"),
    ),
  ],
  completes: leaseIds,
  async run(context) {
    const {
      flags,
      args: [id],
      client,
      note,
    } = context;
    const { claim, state, force, ...rest } = flags<Flags>();
    if (force) return revoke(context);
    if (rest.reason !== undefined) throw requiresFlag("--reason", "--force");
    if (rest.gone !== undefined) throw requiresFlag("--gone", "--force");
    const report = parseReport(rest, "release");
    if (report !== undefined && claim !== undefined) {
      const hint = "Report it with berth signal --pool POOL, then release the claim";
      throw usageError(`Cannot use ${firstReportFlag(rest)} with --claim`, hint);
    }
    const held = resolveLease(id, rest, "release");
    const outcome = await client.release(held, { claim, state, ...report });
    const what = claim === undefined ? held.id : `claim ${claim} of ${held.id}`;
    note(outcome === "released" ? `Released ${what}` : `${held.id} had already ended`);
    return undefined;
  },
};

async function revoke({ args: [id], client, flags, note }: Context): Promise<undefined> {
  const { reason, claim, state, gone, ...rest } = flags<Flags>();
  if (id === undefined) {
    const hint = "Pass the id of the lease to end; list them: berth leases";
    throw usageError("Cannot release with --force: no lease is given", hint);
  }
  if (reason === undefined) {
    const hint = "Add --reason WHY; the holder sees it";
    throw usageError("Cannot release with --force: the reason is missing", hint);
  }
  if (claim !== undefined) throw conflictingFlags("--claim", "--force");
  if (state !== undefined) throw conflictingFlags("--state", "--force");
  const reportFlag = firstReportFlag(rest);
  if (reportFlag !== undefined) throw conflictingFlags(reportFlag, "--force");
  await client.revoke(id, { reason, by: userAtHost(), ...(gone && { gone }) });
  const left = gone ? undefined : await stillHeld(client, id);
  note(left === undefined ? `Ended ${id}` : `Revoked ${id}; ${left}`);
  return undefined;
}

/** When the resources of a revoked lease can be lent again; undefined if it has ended. */
async function stillHeld(client: BerthClient, id: string): Promise<string | undefined> {
  const lease = await client.lease(id).catch(() => undefined);
  if (lease?.expiresAt === undefined || lease.expiresAt === null) return undefined;
  const left = timeUntil(lease.expiresAt);
  return `its job may work for another ${left}, unless it stops before (gone already? --gone)`;
}

function firstReportFlag(flags: ReportFlags): string | undefined {
  const found = (["throttled", "ok", "evidence"] as const).find(
    (name) => flags[name] !== undefined,
  );
  return found === undefined ? undefined : `--${found}`;
}

function requiresFlag(option: string, other: string) {
  return usageError(`Cannot use ${option} without ${other}`, `Add ${other}, or remove ${option}`);
}

function conflictingFlags(option: string, other: string) {
  return usageError(`Cannot use ${option} with ${other}`, `Remove one of them`);
}
