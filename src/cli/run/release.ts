import { Option } from "commander";
import type { CliCommand, Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { leaseIds } from "../show/leases.ts";
import { matching, stateName, token } from "../values.ts";
import { whoIAm } from "./holder.ts";
import { type HeldFlags, heldOf } from "./lease-file.ts";
import { type ReportFlags, reportOf, reportOptions } from "./report.ts";

interface Flags extends HeldFlags, ReportFlags {
  readonly claim?: string;
  readonly state?: string;
  readonly force?: boolean;
  readonly reason?: string;
}

const reasonLengthMax = 1_024;

export const release: CliCommand = {
  args: [["[lease]", "which one ($BERTH_LEASE_ID, or that of $BERTH_LEASE_FILE)"]],
  options: [
    flag("--token <token>", "proof that it is yours ($BERTH_TOKEN)", token),
    flag("--file <file>", "take id and token from a lease file"),
    flag("--claim <claim>", "give back this claim only; the lease goes on"),
    flag("--state <state>", "leave its resources in this state, such as dirty", stateName),
    ...reportOptions(),
    new Option("--force", "for operators: end somebody else's lease"),
    flag(
      "--reason <why>",
      "with --force: told to its holder",
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
    if (rest.reason !== undefined) throw onlyWith("--reason", "--force");
    const report = reportOf(rest, "release");
    if (report !== undefined && claim !== undefined) {
      const hint = "Tell it with berth signal --pool POOL, then give the claim back";
      throw usageError(`Cannot use ${toldBy(rest)} with --claim`, hint);
    }
    const held = heldOf(id, rest, "release");
    const outcome = await client.release(held, { claim, state, ...report });
    const what = claim === undefined ? held.id : `claim ${claim} of ${held.id}`;
    note(outcome === "released" ? `Released ${what}` : `${held.id} had ended before`);
    return undefined;
  },
};

async function revoke({ args: [id], client, flags, note }: Context): Promise<undefined> {
  const { reason, claim, state, ...rest } = flags<Flags>();
  if (id === undefined) {
    const hint = "Name the lease to end; see them: berth leases";
    throw usageError("Cannot release with --force: no lease is named", hint);
  }
  if (reason === undefined) {
    const hint = "Say why with --reason WHY: its holder will ask";
    throw usageError("Cannot release with --force: the reason is missing", hint);
  }
  if (claim !== undefined) throw notWith("--claim", "--force");
  if (state !== undefined) throw notWith("--state", "--force");
  const told = toldBy(rest);
  if (told !== undefined) throw notWith(told, "--force");
  await client.revoke(id, { reason, by: whoIAm() });
  note(`Ended ${id}`);
  return undefined;
}

function toldBy(flags: ReportFlags): string | undefined {
  const told = (["throttled", "ok", "evidence"] as const).find((name) => flags[name] !== undefined);
  return told === undefined ? undefined : `--${told}`;
}

function onlyWith(option: string, other: string) {
  return usageError(`Cannot use ${option}: it goes with ${other}`, `Add ${other}, or leave it out`);
}

function notWith(option: string, other: string) {
  return usageError(`Cannot use ${option} with ${other}`, `Leave one of them out`);
}
