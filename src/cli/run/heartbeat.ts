import { Problem } from "../../api/problem.ts";
import { isTemporary, pause } from "../../client/pause.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { Interrupted } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { momentAhead } from "../show/age.ts";
import { leaseIds } from "../show/leases.ts";
import { formatData } from "../show/listing.ts";
import { duration, token } from "../values.ts";
import { type LeaseFlags, resolveLease } from "./lease-file.ts";
import { exitCodeOfSignal } from "./signals.ts";

interface Flags extends LeaseFlags {
  readonly every?: number;
  readonly output: "table" | "json" | "yaml";
}

export const heartbeat: CliCommand = {
  args: [["[lease]", "the lease's id ($BERTH_LEASE_ID, or from $BERTH_LEASE_FILE)"]],
  options: [
    flag("--token <token>", "the lease's token ($BERTH_LEASE_TOKEN)", token),
    flag("--file <file>", "read id and token from a lease file"),
    flag("--every <duration>", "repeat at this interval until Ctrl-C", duration({ minMs: 100 })),
    outputFlag("table", "json", "yaml"),
  ],
  help: "\nExits 76 when the lease is lost. Then stop using its resources.",
  completes: leaseIds,
  async run(context) {
    const {
      flags,
      args: [id],
    } = context;
    const { every, output, ...rest } = flags<Flags>();
    const held = resolveLease(id, rest, "send a heartbeat for");
    const beat = async () => {
      const answer = await context.client.heartbeat(held);
      const line = `${answer.id} expires ${momentAhead(answer.expiresAt)}`;
      context.print(output === "table" ? line : await formatData(answer, output));
    };
    await (every === undefined ? beat() : heartbeatLoop(context, beat, every));
    return undefined;
  },
};

/** Retries temporary errors; throws when the lease has ended. */
async function heartbeatLoop(
  { note }: Context,
  beat: () => Promise<void>,
  everyMs: number,
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => stop.abort(new Interrupted(exitCodeOfSignal(signal))));
  }
  for (;;) {
    try {
      await beat();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const isReadOnly = error instanceof Problem && error.code === "journal_unavailable";
      note(`berth: ${error.message}${isReadOnly ? "; nothing expires meanwhile" : "; retrying"}`);
    }
    await pause(everyMs, stop.signal);
  }
}
