import { Option } from "commander";
import { limits } from "../api/limits.ts";
import type { CliCommand } from "./cli-command.ts";
import { usageError } from "./failure.ts";
import { flag } from "./flags.ts";
import { type HeldFlags, heldOf } from "./lease-file.ts";
import { leaseIds } from "./leases.ts";
import { matching, token } from "./values.ts";

interface Flags extends HeldFlags {
  readonly throttled?: boolean;
  readonly ok?: boolean;
  readonly evidence?: string;
  readonly pool?: string;
}

export const signal: CliCommand = {
  args: [["[lease]", "which one ($BERTH_LEASE_ID, or that of $BERTH_LEASE_FILE)"]],
  options: [
    new Option("--throttled", "the provider throttled you: the pool starts fewer for a while"),
    new Option("--ok", "all went well"),
    flag(
      "--evidence <text>",
      "what the provider said, kept with the change",
      matching(/\S/, limits.evidenceLengthMax, "some words"),
    ),
    flag("--pool <pool>", "of this pool only; otherwise of all that the lease has"),
    flag("--token <token>", "proof that it is yours ($BERTH_TOKEN)", token),
    flag("--file <file>", "take id and token from a lease file"),
  ],
  completes: leaseIds,
  async run({ args: [id], client, flags, note }) {
    const { throttled, ok, evidence, pool, ...rest } = flags<Flags>();
    if ((throttled === true) === (ok === true)) {
      const state = throttled ? "both --throttled and --ok are given" : "there is nothing to tell";
      throw usageError(`Cannot signal: ${state}`, "Write --throttled, or --ok");
    }
    const held = heldOf(id, rest, "signal for");
    await client.signal(held, {
      throttled: throttled === true,
      ...(evidence === undefined ? undefined : { evidence }),
      ...(pool === undefined ? undefined : { pool }),
    });
    note(`Told ${throttled ? "of throttling" : "that all is well"} for ${held.id}`);
    return undefined;
  },
};
