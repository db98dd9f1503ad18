/**
 * What the broker may do at present, as one value. The picture of all transitions stands above the
 * class `Broker`; this is the same picture as a function, so that each arrow can be tested alone.
 */
import type { JournalConflict } from "../journal/journal.ts";

/** How a broker that has not stopped stands to its journal. */
export type Serving =
  /** Memory is what the journal says, and the journal can be written. */
  | { readonly type: "leading" }
  /** Memory is what the journal says. Heartbeats and reads work; nothing that must be durable does. */
  | { readonly type: "read-only"; readonly cause: Error }
  /** Memory is not what the journal says, and the journal cannot be read: nothing is known. */
  | { readonly type: "unreadable"; readonly cause: Error }
  /** Another server writes the journal. What this one remembers is out of date. */
  | { readonly type: "standby"; readonly cause: JournalConflict };

export type BrokerMode =
  | Serving
  /** Finishes what was submitted, as far as the journal allows it, and takes nothing new. */
  | { readonly type: "closing"; readonly serving: Serving }
  /** Writes no more. `readable`: memory is what the journal says, so it can still be looked at. */
  | { readonly type: "ended"; readonly cause: Error; readonly readable: boolean };

/** What can change the mode. */
export type ModeChange =
  | { readonly type: "commit-failed"; readonly cause: Error }
  | { readonly type: "read-failed"; readonly cause: Error }
  | { readonly type: "read-back" }
  | { readonly type: "write-worked" }
  | { readonly type: "stepped-down"; readonly cause: JournalConflict }
  | { readonly type: "told-to-lead" }
  | { readonly type: "told-to-close" }
  | { readonly type: "closed"; readonly cause: Error }
  | { readonly type: "broke"; readonly cause: Error };

export const leading: Serving = { type: "leading" };

/** The same value where nothing changes. */
export function modeAfter(mode: BrokerMode, change: ModeChange): BrokerMode {
  if (mode.type === "ended") {
    return change.type === "read-back" ? { ...mode, readable: true } : mode;
  }
  const serving = servingIn(mode);
  switch (change.type) {
    case "broke":
      return { type: "ended", cause: change.cause, readable: false };
    case "closed":
      return { type: "ended", cause: change.cause, readable: isReadable(mode) };
    case "told-to-close":
      return mode.type === "closing" ? mode : { type: "closing", serving };
    default: {
      const after = servingAfter(serving, change);
      if (after === serving) return mode;
      return mode.type === "closing" ? { type: "closing", serving: after } : after;
    }
  }
}

type ServingChange = Exclude<ModeChange, { readonly type: "broke" | "closed" | "told-to-close" }>;

function servingAfter(serving: Serving, change: ServingChange): Serving {
  switch (change.type) {
    case "commit-failed":
      return serving.type === "leading" ? { type: "read-only", cause: change.cause } : serving;
    case "read-failed":
      if (serving.type === "leading") return { type: "unreadable", cause: change.cause };
      return serving.type === "read-only" ? { ...serving, type: "unreadable" } : serving;
    case "read-back":
      return serving.type === "unreadable" ? { ...serving, type: "read-only" } : serving;
    case "write-worked":
      return serving.type === "read-only" ? leading : serving;
    case "stepped-down":
      return { type: "standby", cause: change.cause };
    case "told-to-lead":
      return serving.type === "standby" ? { ...serving, type: "unreadable" } : serving;
  }
}

/** How a broker stands to its journal, whether or not it is closing; an ended one is not asked. */
export function servingIn(mode: Exclude<BrokerMode, { readonly type: "ended" }>): Serving {
  return mode.type === "closing" ? mode.serving : mode;
}

/** Whether memory is what the journal says. */
export function isReadable(mode: BrokerMode): boolean {
  if (mode.type === "ended") return mode.readable;
  const { type } = servingIn(mode);
  return type === "leading" || type === "read-only";
}

/** Whether events can be made durable. */
export function isWritable(mode: BrokerMode): boolean {
  return mode.type !== "ended" && servingIn(mode).type === "leading";
}

/** Whether new commands are taken at all, if only to be refused with the reason. */
export function isOpen(mode: BrokerMode): boolean {
  return mode.type !== "closing" && mode.type !== "ended";
}
