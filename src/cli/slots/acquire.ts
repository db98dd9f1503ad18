import type { HeldSlot } from "../../slots/held-slot.ts";
import type { CliCommand } from "../cli-command.ts";
import { outputFlag } from "../flags.ts";
import { SignalRouter } from "../run/signals.ts";
import { formatData } from "../show/listing.ts";
import { shellQuoted } from "../terminal/text.ts";
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

const formats = ["name", "json", "yaml", "env"] as const;

interface Flags extends SetFlags, HolderFlags, TermFlags {
  readonly output: (typeof formats)[number];
}

/** Long, because nothing renews the slot automatically. It must last for a whole job. */
const usualSeconds = 7_200;

export const slotsAcquire: CliCommand = {
  options: [...setOptions(), ...holderOptions(), ...termOptions("2h"), outputFlag(...formats)],
  help: `
Prints the slot's number. The same run gets the same slot again; another run never does.
In a GitHub Actions job it sets the output slot_id. Renew the slot with berth slots renew, end it
with berth slots release.`,
  async run(context) {
    const flags = context.flags<Flags>();
    refuseLongName(holderFrom(flags));
    const identity = identityFrom(flags);
    const store = await leaseStoreOf(flags);
    const router = new SignalRouter();
    const held = await waitForSlot(store, flags, { identity, usualSeconds }, router);
    router.close();
    context.note(`Acquired slot ${held.slot} for ${identity}`);
    context.print(await formatSlot(held, flags.output));
    return undefined;
  },
};

async function formatSlot(held: HeldSlot, output: Flags["output"]): Promise<string> {
  switch (output) {
    case "name":
      return String(held.slot);
    case "env": {
      const pairs = Object.entries(slotVariables(held));
      return `export ${pairs.map(([name, value]) => `${name}=${shellQuoted(value)}`).join(" ")}`;
    }
    default:
      return formatData(held, output);
  }
}
