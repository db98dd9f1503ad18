/** The public types of the broker besides its methods: options, listeners, errors. */
import type { State } from "../core/model/state.ts";
import { type JournalConflict, JournalUnavailable, type Recorded } from "../journal/journal.ts";

export interface BrokerOptions {
  /** The broker takes a snapshot after this many events, to limit what a restart must replay. */
  readonly snapshotEveryEvents: number;
  /** Events older than this are pruned, once a snapshot covers them. */
  readonly retentionMs: number;
  /**
   * If the journal has more bytes than this, its oldest events are pruned earlier. The broker takes a
   * snapshot after a quarter of it, because only events that a snapshot covers can be pruned.
   */
  readonly journalBytesMax: number;
  /** While the journal is not writable, the broker probes it at this interval. */
  readonly probeEveryMs: number;
  /**
   * If the process did not run for longer than this, every holder gets a full ttl of grace. After a
   * shorter pause, holders with a short ttl get it: see `pausePerTtlMax` in the core.
   */
  readonly stallMs: number;
  /** Nothing expires before `startExpiry` is called, because no client can reach the server yet. */
  readonly delayExpiry: boolean;
  /** The largest number of queued commands. Further ones are rejected with `BrokerOverloaded`. */
  readonly pendingMax: number;
  /**
   * Called when another process has written to the journal. `end`: this must not happen, and the
   * broker stops for good. `step-down`: the other process leads from now on, and this broker rejects
   * commands with `NotLeader` until `lead` is called.
   */
  readonly onConflict: (cause: JournalConflict) => "end" | "step-down";
  /** `standby`: another server may lead, so this broker only reads until `lead` is called. */
  readonly startAs: "leading" | "standby";
  /**
   * Whether this broker may decide and answer for the journal now. While it may not, commands wait;
   * `resume` or `stepDown` must follow.
   */
  readonly mayDecide: () => boolean;
  /**
   * Called before memory is read. Returns undefined if memory is good enough, or a promise that
   * resolves once it is, and rejects if it cannot be.
   */
  readonly freshen: () => Promise<void> | undefined;
}

export const defaultBrokerOptions: BrokerOptions = {
  snapshotEveryEvents: 250_000,
  retentionMs: 30 * 24 * 3_600_000,
  journalBytesMax: 4 * 1024 ** 3,
  probeEveryMs: 1_000,
  stallMs: 2_000,
  delayExpiry: false,
  pendingMax: 50_000,
  onConflict: () => "end",
  startAs: "leading",
  mayDecide: () => true,
  freshen: () => undefined,
};

/** The broker is stopping or has stopped. The command had no effect. */
export class BrokerClosed extends Error {
  override readonly name = "BrokerClosed";
}

/** The command queue is full. The command had no effect. */
export class BrokerOverloaded extends Error {
  override readonly name = "BrokerOverloaded";
}

/**
 * The commit of the command failed, and nobody can tell whether it was made. The client learns it when it
 * repeats the command with the same request id.
 */
export class OutcomeUnknown extends JournalUnavailable {}

/** Another server leads; the client must send the command there. It had no effect here. */
export class NotLeader extends Error {
  override readonly name = "NotLeader";
}

/** A listener for commits and for changes of the broker's mode. */
export interface BrokerListener {
  committed?(recorded: Recorded, state: State): void;
  /** Resolves once the listener has processed every commit. The journal is not pruned before. */
  caughtUp?(): Promise<void>;
  /** With a cause: this broker cannot write the journal. With null: it can write it again. */
  writable?(cause: Error | null): void;
  /** The broker has stopped: another process has written to the journal, or the journal is damaged. */
  fatal?(cause: Error): void;
  /** A decision (its command was rejected), a listener or the pruning of the journal failed. */
  failed?(what: string, cause: unknown): void;
}
