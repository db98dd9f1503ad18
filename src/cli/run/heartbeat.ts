import { Problem } from "../../api/problem.ts";
import { isTemporary, pause } from "../../client/pause.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { leaseIds } from "../show/leases.ts";
import { asData } from "../show/listing.ts";
import { duration, token } from "../values.ts";
import { type HeldFlags, heldOf } from "./lease-file.ts";
import { exitCodeOfSignal } from "./signals.ts";

interface Flags extends HeldFlags {
  readonly every?: number;
  readonly output: "table" | "json" | "yaml";
}

export const heartbeat: CliCommand = {
  args: [["[lease]", "which one ($BERTH_LEASE_ID, or that of $BERTH_LEASE_FILE)"]],
  options: [
    flag("--token <token>", "proof that it is yours ($BERTH_TOKEN)", token),
    flag("--file <file>", "take id and token from a lease file"),
    flag("--every <duration>", "go on at this interval until Ctrl-C", duration({ minMs: 100 })),
    outputFlag("table", "json", "yaml"),
  ],
  help: "\nExits 76 when the lease is lost: then stop using its resources.",
  completes: leaseIds,
  async run(context) {
    const {
      flags,
      args: [id],
    } = context;
    const { every, output, ...rest } = flags<Flags>();
    const held = heldOf(id, rest, "send a heartbeat for");
    const beat = async () => {
      const answer = await context.client.heartbeat(held);
      const words = `${answer.id} expires at ${answer.expiresAt}`;
      context.print(output === "table" ? words : await asData(answer, output));
    };
    await (every === undefined ? beat() : beatOn(context, beat, every));
    return undefined;
  },
};

/** Rides out what passes by itself; a lease that is gone ends it. */
async function beatOn(
  { note }: Context,
  beat: () => Promise<void>,
  everyMs: number,
): Promise<void> {
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => ended.abort(new Interrupted(exitCodeOfSignal(signal))));
  }
  for (;;) {
    try {
      await beat();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const passes = error instanceof Problem && error.code === "journal_unavailable";
      note(`berth: ${error.message}${passes ? "; nothing expires meanwhile" : "; trying again"}`);
    }
    await pause(everyMs, ended.signal);
  }
}
