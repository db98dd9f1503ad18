import type { Granted, Waiting } from "../client/calls.ts";
import { type LeaseFormat, leaseFormats, leaseText } from "./acquire.ts";
import type { CliCommand } from "./cli-command.ts";
import { flag, outputFlag } from "./flags.ts";
import { type HeldFlags, heldOf } from "./lease-file.ts";
import { leaseIds } from "./leases.ts";
import { requestId, token } from "./values.ts";
import { stderrScreen } from "./wait-for-lease.ts";
import { waitingDisplay } from "./waiting-display.ts";

interface Flags extends HeldFlags {
  readonly pool?: string;
  readonly requestId?: string;
  readonly output: LeaseFormat;
}

/** How long each look at the queue stays open. */
const lookMs = 30_000;

export const refresh: CliCommand = {
  args: [["[lease]", "which one ($BERTH_LEASE_ID, or that of $BERTH_LEASE_FILE)"]],
  options: [
    flag("--pool <pool>", "only what it has of this pool; the rest of the lease goes on"),
    flag("--request-id <id>", "your own id for the new request", requestId),
    flag("--token <token>", "proof that it is yours ($BERTH_TOKEN)", token),
    flag("--file <file>", "take id and token from a lease file"),
    outputFlag(...leaseFormats),
  ],
  help: `
Gives back and asks for the same again, behind all who wait, in one step; before a retry.
It becomes another lease: eval "$(berth refresh -o env)"`,
  completes: leaseIds,
  async run({ args: [id], client, flags, print }) {
    const { pool, requestId: own, output, ...rest } = flags<Flags>();
    const held = heldOf(id, rest, "refresh");
    const body = {
      requestId: own ?? crypto.randomUUID(),
      ...(pool === undefined ? undefined : { pool }),
    };
    let fate: Granted | Waiting = await client.refresh(held, body);
    const proof = (fate.granted ? fate.lease.token : fate.request.token) ?? "";
    const display = waitingDisplay(process.stderr, stderrScreen());
    while (!fate.granted) {
      display.show(fate.request);
      fate = await client.request({ id: fate.request.id, token: proof }, { waitMs: lookMs });
    }
    display.end();
    print(await leaseText({ ...fate.lease, token: proof }, output, client.url));
    return undefined;
  },
};
