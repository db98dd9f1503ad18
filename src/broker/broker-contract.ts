/** What the broker's neighbours see of it besides its methods: settings, listeners, errors. */
import type { State } from "../core/model/state.ts";
import type { JournalConflict, Recorded } from "../journal/journal.ts";

export interface BrokerOptions {
  /** A snapshot is taken after so many events, which bounds what a restart has to replay. */
  readonly snapshotEveryEvents: number;
  /** Events older than this go, once a snapshot covers them. */
  readonly retentionMs: number;
  /** While the journal cannot be written, it is tried again so often. */
  readonly probeEveryMs: number;
  /** A broker that could not listen for longer than this gives everybody a full ttl. */
  readonly stallMs: number;
  readonly pendingMax: number;
  /**
   * Another process has written to the journal. `end`: that must not happen, and this broker stops
   * for good. `step-down`: the other one leads from now on, and this broker refuses commands with
   * `NotLeader` until `lead` is called.
   */
  readonly onConflict: (cause: JournalConflict) => "end" | "step-down";
}

export const defaultBrokerOptions: BrokerOptions = {
  snapshotEveryEvents: 250_000,
  retentionMs: 30 * 24 * 3_600_000,
  probeEveryMs: 1_000,
  stallMs: 2_000,
  pendingMax: 50_000,
  onConflict: () => "end",
};

/** It is stopping; nothing has happened. */
export class BrokerClosed extends Error {
  override readonly name = "BrokerClosed";
}

/** More wait to be decided than are kept; nothing has happened. */
export class BrokerOverloaded extends Error {
  override readonly name = "BrokerOverloaded";
}

/** Another server leads: ask that one. Nothing has happened. */
export class NotLeader extends Error {
  override readonly name = "NotLeader";
}

/** Followers of the broker: of what it commits, and of how it fares. */
export interface BrokerListener {
  committed?(recorded: Recorded, state: State): void;
  /** Resolves once it has followed all that is committed: nothing is pruned before. */
  caughtUp?(): Promise<void>;
  /** The journal cannot be written (by this broker), or (without a cause) can be again. */
  writable?(cause: Error | null): void;
  /** It must not go on: another has written to the journal, or the journal contradicts itself. */
  fatal?(cause: Error): void;
  /** Something threw that must not: a decision, whose command was refused, or a follower. */
  failed?(what: string, cause: unknown): void;
}
