import { LeaseLost } from "../../client/errors.ts";
import { isTemporary, pause } from "../../client/pause.ts";
import { roughDuration } from "../../core/model/time.ts";
import type { HeldSlot } from "../../slots/held-slot.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { SignalRouter } from "../run/signals.ts";
import { abortOnSignal } from "../run/wait-for-lease.ts";
import { duration } from "../values.ts";
import {
  type HolderFlags,
  holderOptions,
  identityFrom,
  type SetFlags,
  setOptions,
  slotArgument,
  slotSetOf,
} from "./flags.ts";
import { leaseStoreOf } from "./store.ts";

interface Flags extends SetFlags, HolderFlags {
  readonly every?: number;
}

export const slotsRenew: CliCommand = {
  args: [["[slot]", "the slot's number; default: the slot of this run"]],
  options: [
    ...setOptions(),
    ...holderOptions(),
    flag("--every <duration>", "repeat at this interval until Ctrl-C", duration({ minMs: 100 })),
  ],
  help: "\nExits 76 when the slot is lost. Then stop the work that needs it.",
  async run(context) {
    const { every, ...flags } = context.flags<Flags>();
    const identity = identityFrom(flags);
    const slot = slotArgument(context.args[0]);
    const set = slotSetOf(flags);
    const [store, { slotHeldBy, slotsHeldBy }, { renewSlot }] = await Promise.all([
      leaseStoreOf(flags),
      import("../../slots/find-held.ts"),
      import("../../slots/held-slot.ts"),
    ]);
    const held =
      slot === undefined
        ? (await slotsHeldBy(store, set, identity))[0]
        : await slotHeldBy(store, set, { slot, identity, verb: "renew" });
    if (held === undefined)
      throw new LeaseLost(nameOf(slot), "ended", `${identity} does not hold it`);
    const renew = async () => {
      await renewSlot(store, held);
      context.print(`Renewed slot ${held.slot}${lastingText(held)}`);
    };
    await (every === undefined ? renew() : renewLoop(context, renew, every));
    return undefined;
  },
};

function nameOf(slot: number | undefined): string {
  return slot === undefined ? "slot" : `slot ${slot}`;
}

function lastingText({ durationSeconds }: HeldSlot): string {
  return durationSeconds > 0 ? ` for ${roughDuration(durationSeconds * 1_000)}` : "";
}

/** Retries temporary errors; throws when the slot has ended. */
async function renewLoop(
  { note }: Context,
  renew: () => Promise<void>,
  everyMs: number,
): Promise<void> {
  const stopped = abortOnSignal(new SignalRouter());
  for (;;) {
    try {
      await renew();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      note(`berth: ${error.message}; retrying`);
    }
    await pause(everyMs, stopped);
  }
}
