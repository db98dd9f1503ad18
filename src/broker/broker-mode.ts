/**
 * The mode of the broker: what it may do at present, as one value. The diagram above the class
 * `Broker` shows all transitions. `modeAfter` is the same diagram as a function, so that a test can
 * check each transition alone.
 */
/** Whether a broker that has not stopped can read and write its journal. */
export type JournalAccess =
  /** Memory equals the journal, and the journal is writable. */
  | { readonly type: "leading" }
  /** Memory equals the journal. Heartbeats and reads work; commands that must be durable do not. */
  | { readonly type: "read-only"; readonly cause: Error }
  /** Memory differs from the journal, and the journal is not readable: the state is unknown. */
  | { readonly type: "unreadable"; readonly cause: Error }
  /**
   * Another server writes the journal. `readable`: memory is what the journal said a moment ago, and
   * follows it. Otherwise memory differs from the journal, and must be loaded again.
   */
  | { readonly type: "standby"; readonly cause: Error; readonly readable: boolean };

export type BrokerMode =
  | JournalAccess
  /** Decides the queued commands, as far as the journal allows, and accepts no new ones. */
  | { readonly type: "closing"; readonly access: JournalAccess }
  /** Writes no more. `readable`: memory equals the journal, so reads still work. */
  | { readonly type: "stopped"; readonly cause: Error; readonly readable: boolean };

/** The causes of a transition. */
export type ModeChange =
  | { readonly type: "commit-failed"; readonly cause: Error }
  | { readonly type: "reload-failed"; readonly cause: Error }
  | { readonly type: "reloaded" }
  | { readonly type: "probe-committed" }
  | { readonly type: "stepped-down"; readonly cause: Error; readonly readable: boolean }
  | { readonly type: "took-over" }
  | { readonly type: "close-requested" }
  | { readonly type: "closed"; readonly cause: Error }
  | { readonly type: "fatal-error"; readonly cause: Error };

export const leading: JournalAccess = { type: "leading" };

/** Returns `mode` itself if the change has no effect in this mode. */
export function modeAfter(mode: BrokerMode, change: ModeChange): BrokerMode {
  if (mode.type === "stopped") {
    return change.type === "reloaded" && !mode.readable ? { ...mode, readable: true } : mode;
  }
  const access = journalAccess(mode);
  switch (change.type) {
    case "fatal-error":
      return { type: "stopped", cause: change.cause, readable: false };
    case "closed":
      return { type: "stopped", cause: change.cause, readable: isReadable(mode) };
    case "close-requested":
      return mode.type === "closing" ? mode : { type: "closing", access };
    default: {
      const next = accessAfter(access, change);
      if (next === access) return mode;
      return mode.type === "closing" ? { type: "closing", access: next } : next;
    }
  }
}

type StopChange = { readonly type: "fatal-error" | "closed" | "close-requested" };
type AccessChange = Exclude<ModeChange, StopChange>;

function accessAfter(access: JournalAccess, change: AccessChange): JournalAccess {
  switch (change.type) {
    case "commit-failed":
      return access.type === "leading" ? { type: "read-only", cause: change.cause } : access;
    case "reload-failed":
      if (access.type === "leading") return { type: "unreadable", cause: change.cause };
      if (access.type === "standby") return withReadable(access, false);
      return access.type === "read-only" ? { ...access, type: "unreadable" } : access;
    case "reloaded":
      if (access.type === "standby") return withReadable(access, true);
      return access.type === "unreadable" ? { ...access, type: "read-only" } : access;
    case "probe-committed":
      return access.type === "read-only" ? leading : access;
    case "stepped-down":
      return { type: "standby", cause: change.cause, readable: change.readable };
    case "took-over":
      return access.type === "standby" && access.readable ? leading : access;
  }
}

function withReadable(
  access: Extract<JournalAccess, { readonly type: "standby" }>,
  readable: boolean,
): JournalAccess {
  return access.readable === readable ? access : { ...access, readable };
}

/** The access of a broker that has not stopped, whether it is closing or not. */
export function journalAccess(
  mode: Exclude<BrokerMode, { readonly type: "stopped" }>,
): JournalAccess {
  return mode.type === "closing" ? mode.access : mode;
}

/** Whether memory equals the journal. */
export function isReadable(mode: BrokerMode): boolean {
  if (mode.type === "stopped") return mode.readable;
  const access = journalAccess(mode);
  if (access.type === "standby") return access.readable;
  return access.type === "leading" || access.type === "read-only";
}

/** Whether another server decides. */
export function isStandby(mode: BrokerMode): boolean {
  return mode.type !== "stopped" && journalAccess(mode).type === "standby";
}

/** Whether the broker can make events durable. */
export function isWritable(mode: BrokerMode): boolean {
  return mode.type !== "stopped" && journalAccess(mode).type === "leading";
}

/** Whether the broker accepts new commands, if only to reject them with the reason. */
export function isOpen(mode: BrokerMode): boolean {
  return mode.type !== "closing" && mode.type !== "stopped";
}
