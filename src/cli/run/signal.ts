import type { CliCommand } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { leaseIds } from "../show/leases.ts";
import { token } from "../values.ts";
import { type HeldFlags, heldOf } from "./lease-file.ts";
import { type ReportFlags, reportOf, reportOptions, unclear } from "./report.ts";

interface Flags extends HeldFlags, ReportFlags {
  readonly pool?: string;
}

export const signal: CliCommand = {
  args: [["[lease]", "which one ($BERTH_LEASE_ID, or that of $BERTH_LEASE_FILE)"]],
  options: [
    ...reportOptions(),
    flag("--pool <pool>", "of this pool only; otherwise of all that the lease has"),
    flag("--token <token>", "proof that it is yours ($BERTH_TOKEN)", token),
    flag("--file <file>", "take id and token from a lease file"),
  ],
  completes: leaseIds,
  async run({ args: [id], client, flags, note }) {
    const { pool, ...rest } = flags<Flags>();
    const report = reportOf(rest, "signal");
    if (report === undefined) throw unclear("signal", "there is nothing to tell");
    const held = heldOf(id, rest, "signal");
    await client.signal(held, { ...report, ...(pool === undefined ? undefined : { pool }) });
    note(`Told ${report.throttled ? "of throttling" : "that all is well"} for ${held.id}`);
    return undefined;
  },
};
