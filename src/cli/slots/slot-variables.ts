import type { HeldSlot } from "../../slots/held-slot.ts";

/** The command's variables for its slot. */
export function slotVariables({ slot, name, fence, identity }: HeldSlot): Record<string, string> {
  return {
    BERTH_SLOT_ID: String(slot),
    BERTH_SLOT_NAME: name,
    BERTH_SLOT_FENCE: String(fence),
    BERTH_SLOT_HOLDER: identity,
  };
}
