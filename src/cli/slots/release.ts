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
  args: [["[slot]", "the slot's number; default: all slots of this run"]],
  options: [
    ...setOptions(),
    ...holderOptions(),
    new Option("--force", "for operators: release another run's slot"),
  ],
  help: `
Releases slots of this run only. If the slot now has another holder, it stays and the command exits
77. Releasing twice is not an error.`,
  async run(context) {
    const flags = context.flags<Flags>();
    const slot = slotArgument(context.args[0]);
    if (flags.force) return releaseByForce(context, slot);
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
      if (each === undefined) context.note(`Slot ${slot} was already free`);
      else if ((await releaseSlot(store, each)) === "released") {
        context.note(`Released slot ${each.slot}`);
      } else context.note(`Slot ${each.slot} had already ended`);
    }
    if (held.length === 0) context.note(`${identity} holds no slot`);
    return undefined;
  },
};

async function releaseByForce(context: Context, slot: number | undefined): Promise<undefined> {
  if (slot === undefined) {
    const hint = "Pass the slot's number; list slots: berth slots status";
    throw usageError("Cannot release with --force: no slot is given", hint);
  }
  const flags = context.flags<Flags>();
  const { releaseForced } = await import("../../slots/find-held.ts");
  const holder = await releaseForced(await leaseStoreOf(flags), slotSetOf(flags), slot);
  const text =
    holder === undefined ? `Slot ${slot} was already free` : `Released slot ${slot} of ${holder}`;
  context.note(plain(text));
  return undefined;
}
