import type { CliCommand } from "../cli-command.ts";
import { flag, outputFlag } from "../flags.ts";
import { leaseIds } from "../show/leases.ts";
import { requestId, token } from "../values.ts";
import { handOver, type LeaseFormat, leaseFormats } from "./acquire.ts";
import { type HeldFlags, heldOf } from "./lease-file.ts";
import { type WaitFlags, waitOptions } from "./request-flags.ts";
import { SignalDesk } from "./signals.ts";
import { waitInLine } from "./wait-for-lease.ts";

interface Flags extends HeldFlags, WaitFlags {
  readonly pool?: string;
  readonly requestId?: string;
  readonly output: LeaseFormat;
}

export const refresh: CliCommand = {
  args: [["[lease]", "which one ($BERTH_LEASE_ID, or that of $BERTH_LEASE_FILE)"]],
  options: [
    flag("--pool <pool>", "only what it has of this pool; the rest of the lease goes on"),
    flag("--request-id <id>", "your own id for the new request", requestId),
    flag("--token <token>", "proof that it is yours ($BERTH_TOKEN)", token),
    flag("--file <file>", "take id and token from a lease file"),
    ...waitOptions(),
    outputFlag(...leaseFormats),
  ],
  help: `
Gives back and asks for the same again, behind all who wait, in one step; before a retry.
It becomes another lease: eval "$(berth refresh -o env)"
Whoever stops waiting, by a signal or with --timeout, has given back and holds nothing of it.`,
  completes: leaseIds,
  async run(context) {
    const { pool, requestId: own, output, ...rest } = context.flags<Flags>();
    const held = heldOf(context.args[0], rest, "refresh");
    const body = {
      ...(own === undefined ? undefined : { requestId: own }),
      ...(pool === undefined ? undefined : { pool }),
    };
    const desk = new SignalDesk();
    const again = await waitInLine(
      (options) => context.client.refresh(held, body, options),
      rest,
      desk,
    );
    desk.close();
    await handOver(context, again, output);
    return undefined;
  },
};
