import { LeaseLost } from "../../client/errors.ts";
import { clientLimits } from "../../client/limits.ts";
import { retrying } from "../../client/pause.ts";
import { roughDuration } from "../../core/model/time.ts";
import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import type { HeldSlot } from "../../slots/held-slot.ts";
import type { KeptSlot } from "../../slots/keep-slot.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodeHelp, exitCodes } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { CommandProcess, requireExecutable } from "../run/command-process.ts";
import { HeartbeatLog } from "../run/heartbeat-log.ts";
import {
  abortOnNextSignal,
  exitOrLoss,
  forwardSignal,
  graceAfterLoss,
  graceMsDefault,
} from "../run/run-command.ts";
import { SignalRouter } from "../run/signals.ts";
import { plain } from "../terminal/text.ts";
import { duration } from "../values.ts";
import {
  type HolderFlags,
  holderFrom,
  holderOptions,
  identityFrom,
  refuseLongName,
  type SetFlags,
  setOptions,
  type TermFlags,
  termOptions,
} from "./flags.ts";
import { slotVariables } from "./slot-variables.ts";
import { leaseStoreOf } from "./store.ts";
import { waitForSlot } from "./wait-for-slot.ts";

interface Flags extends SetFlags, HolderFlags, TermFlags {
  readonly grace?: number;
}

/** The first try of a release gets at least this time, even if the lease expires sooner. */
const answerMsMin = 2_000;

/** Short, because the run renews the slot. A run that dies blocks its slot no longer than this. */
const usualSeconds = 120;

export const slotsRun: CliCommand = {
  args: [["[cmd...]", "the command and its arguments, after --"]],
  options: [
    ...setOptions(),
    ...holderOptions(),
    ...termOptions("2m"),
    flag(
      "--grace <duration>",
      "time between TERM and KILL when the slot is lost; default 30s",
      duration(),
    ),
  ],
  passThrough: true,
  help: `
Environment of CMD: BERTH_SLOT_ID, BERTH_SLOT_NAME, BERTH_SLOT_FENCE, BERTH_SLOT_HOLDER.
Signals are forwarded to CMD and its child processes; renewals continue until CMD has exited.
${exitCodeHelp}`,
  async run(context) {
    const flags = context.flags<Flags>();
    const [file] = context.args;
    if (file === undefined) {
      const hint = "Add it after --: berth slots run -- make test";
      throw usageError("Cannot run: no command is given", hint);
    }
    requireExecutable(file);
    refuseLongName(holderFrom(flags));
    const identity = identityFrom(flags, process.pid);
    const store = await leaseStoreOf(flags);
    const router = new SignalRouter();
    const held = await waitForSlot(store, flags, { identity, usualSeconds }, router);
    context.note(`Acquired slot ${held.slot} for ${identity}`);
    return runWithSlot(context, { store, held, router });
  },
};

interface SlotRun {
  readonly store: LeaseStore;
  readonly held: HeldSlot;
  readonly router: SignalRouter;
}

/** Renews the slot while the command runs, and releases it when the command has exited. */
async function runWithSlot(context: Context, { store, held, router }: SlotRun): Promise<number> {
  const { note, args } = context;
  const { grace: graceMs = graceMsDefault } = context.flags<Flags>();
  const { KeptSlot } = await import("../../slots/keep-slot.ts");
  const log = new HeartbeatLog(note, held.durationSeconds * 1_000);
  const kept = new KeptSlot(store, held, { marginMs: graceMs, ...log.listeners });
  try {
    await kept.alive.confirmed;
    const gone = lossOf(kept);
    if (gone !== undefined) {
      note(`berth: SLOT LOST. ${plain(gone.message)}; ${args[0]} is not started`);
      return exitCodes.leaseLost;
    }
    const env = { ...process.env, ...slotVariables(held) };
    const child = await CommandProcess.start(args, env);
    router.routeTo((signal) => forwardSignal(child, signal));
    const loss = await exitOrLoss(child, kept, "never", note);
    if (loss === undefined) return await child.exited;
    note(`berth: SLOT LOST. ${plain(loss.message)}; stopping ${args[0]}`);
    await child.stop(graceAfterLoss(loss, graceMs, kept.alive.leftMs));
    return exitCodes.leaseLost;
  } finally {
    const gone = lossOf(kept);
    kept.stop();
    if (gone?.why !== "ended") await releaseHeldSlot(context, { store, held, router }, kept);
    router.close();
  }
}

function lossOf({ signal }: KeptSlot): LeaseLost | undefined {
  const reason: unknown = signal.reason;
  return reason instanceof LeaseLost ? reason : undefined;
}

async function releaseHeldSlot(
  { note }: Context,
  { store, held, router }: SlotRun,
  { alive }: KeptSlot,
): Promise<void> {
  const signal = abortOnNextSignal(router);
  const forMs = Math.min(clientLimits.releaseMs, Math.max(alive.leftMs, 0));
  const { releaseSlot } = await import("../../slots/held-slot.ts");
  try {
    const answerMs = Math.min(clientLimits.answerMs, Math.max(forMs, answerMsMin));
    await retrying(() => releaseSlot(store, held, { signal, answerMs }), { forMs, signal });
    note(`Released slot ${held.slot}`);
  } catch (error) {
    const why = plain(error instanceof Error ? error.message : String(error));
    note(`berth: Cannot release slot ${held.slot}: ${why}`);
    note(`  It expires in ${roughDuration(Math.max(0, alive.leftMs))}`);
  }
}
