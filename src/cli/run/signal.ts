import type { CliCommand } from "../cli-command.ts";
import { flag, onceFlag } from "../flags.ts";
import { leaseIds } from "../show/leases.ts";
import { token } from "../values.ts";
import { type LeaseFlags, resolveLease } from "./lease-file.ts";
import { parseReport, type ReportFlags, reportOptions, reportUsageError } from "./report.ts";

interface Flags extends LeaseFlags, ReportFlags {
  readonly pool?: string;
}

export const signal: CliCommand = {
  args: [["[lease]", "the lease's id ($BERTH_LEASE_ID, or from $BERTH_LEASE_FILE)"]],
  options: [
    ...reportOptions(),
    onceFlag("--pool <pool>", "report for this pool; default: all pools of the lease"),
    flag("--token <token>", "the lease's token ($BERTH_LEASE_TOKEN)", token),
    flag("--file <file>", "read id and token from a lease file"),
  ],
  completes: leaseIds,
  async run({ args: [id], client, flags, note }) {
    const { pool, ...rest } = flags<Flags>();
    const report = parseReport(rest, "signal");
    if (report === undefined) throw reportUsageError("signal", "there is nothing to report");
    const held = resolveLease(id, rest, "signal");
    await client.signal(held, { ...report, ...(pool === undefined ? undefined : { pool }) });
    note(`Reported ${report.throttled ? "throttling" : "no throttling"} for ${held.id}`);
    return undefined;
  },
};
