import type { CliCommand } from "../cli-command.ts";
import { flag, onceFlag, outputFlag } from "../flags.ts";
import { leaseIds } from "../show/leases.ts";
import { requestId, token } from "../values.ts";
import { type LeaseFormat, leaseFormats, printLease } from "./acquire.ts";
import { type LeaseFlags, resolveLease } from "./lease-file.ts";
import { type WaitFlags, waitOptions } from "./request-flags.ts";
import { SignalRouter } from "./signals.ts";
import { waitInQueue } from "./wait-for-lease.ts";

interface Flags extends LeaseFlags, WaitFlags {
  readonly pool?: string;
  readonly requestId?: string;
  readonly output: LeaseFormat;
}

export const refresh: CliCommand = {
  args: [["[lease]", "the lease's id ($BERTH_LEASE_ID, or from $BERTH_LEASE_FILE)"]],
  options: [
    onceFlag("--pool <pool>", "only the claims on this pool; the rest of the lease stays"),
    flag("--request-id <id>", "your own id for the new request", requestId),
    flag("--token <token>", "the lease's token ($BERTH_LEASE_TOKEN)", token),
    flag("--file <file>", "read id and token from a lease file"),
    ...waitOptions(),
    outputFlag(...leaseFormats),
  ],
  help: `
Releases the lease and requests the same again in one step, at the end of the queue. Use it before
a retry. The new lease has another id and token: eval "$(berth refresh -o env)"
If the wait ends by a signal or --timeout, the old lease is released and there is no new one.`,
  completes: leaseIds,
  async run(context) {
    const { pool, requestId: own, output, ...rest } = context.flags<Flags>();
    const held = resolveLease(context.args[0], rest, "refresh");
    const body = {
      ...(own === undefined ? undefined : { requestId: own }),
      ...(pool === undefined ? undefined : { pool }),
    };
    const router = new SignalRouter();
    const lease = await waitInQueue(
      (options) => context.client.refresh(held, body, options),
      rest,
      router,
    );
    router.close();
    await printLease(context, lease, output);
    return undefined;
  },
};
