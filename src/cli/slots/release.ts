import { Option } from "commander";
import type { CliCommand, Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { plain } from "../terminal/text.ts";
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
  readonly force?: boolean;
}

export const slotsRelease: CliCommand = {
  args: [["[slot]", "its number; all that this run holds unless given"]],
  options: [
    ...setOptions(),
    ...holderOptions(),
    new Option("--force", "for operators: end whoever has it"),
  ],
  help: `
Only what this very run holds is given back: a slot that was lost and has another holder by now is
left alone, and the command exits 77. Giving back twice is no error.`,
  async run(context) {
    const flags = context.flags<Flags>();
    const slot = slotArgument(context.args[0]);
    if (flags.force) return forced(context, slot);
    const identity = identityFrom(flags);
    const set = slotSetOf(flags);
    const [store, { slotHeldBy, slotsHeldBy }, { releaseSlot }] = await Promise.all([
      leaseStoreOf(flags),
      import("../../slots/find-held.ts"),
      import("../../slots/held-slot.ts"),
    ]);
    const held =
      slot === undefined
        ? await slotsHeldBy(store, set, identity)
        : [await slotHeldBy(store, set, { slot, identity, verb: "release" })];
    for (const each of held) {
      if (each === undefined) context.note(`Slot ${slot} was free already`);
      else if ((await releaseSlot(store, each)) === "released") {
        context.note(`Released slot ${each.slot}`);
      } else context.note(`Slot ${each.slot} had ended before`);
    }
    if (held.length === 0) context.note(`${identity} holds no slot`);
    return undefined;
  },
};

async function forced(context: Context, slot: number | undefined): Promise<undefined> {
  if (slot === undefined) {
    const hint = "Name the slot to end; see them: berth slots status";
    throw usageError("Cannot release with --force: no slot is named", hint);
  }
  const flags = context.flags<Flags>();
  const { releaseForced } = await import("../../slots/find-held.ts");
  const holder = await releaseForced(await leaseStoreOf(flags), slotSetOf(flags), slot);
  const told =
    holder === undefined ? `Slot ${slot} was free already` : `Ended ${holder} on slot ${slot}`;
  context.note(plain(told));
  return undefined;
}
