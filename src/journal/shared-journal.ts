/** A journal that several replicas share: one of them leads and writes, the others follow. */
import type { Journal } from "./journal.ts";

/** Who leads. The lease ends by itself, by the clock of the journal, unless it is renewed. */
export interface Leader {
  readonly replica: string;
  /** Where the other replicas reach it. */
  readonly address: string | null;
  /** By the clock of the journal, in milliseconds since 1970. */
  readonly sinceMs: number;
}

/** What the journal says at one moment. */
export interface Standing {
  /** The number of the last event. */
  readonly head: number;
  readonly epoch: number;
  /** Null: nobody leads. */
  readonly leader: Leader | null;
  /** How long nobody else may lead; 0 or less: anyone may claim it. */
  readonly remainingMs: number;
  /** The clock of the journal, in milliseconds since 1970. */
  readonly nowMs: number;
}

export interface ReplicaReport {
  readonly id: string;
  /** Null: the others cannot reach it. */
  readonly address: string | null;
  readonly version: string;
  /** The number of the last event that it has applied. */
  readonly seq: number;
}

export interface KnownReplica extends ReplicaReport {
  readonly startedAtMs: number;
  /** How long ago it reported. */
  readonly silentMs: number;
}

export interface JournalWatcher {
  committed(): void;
  leaderChanged(): void;
}

export interface SharedJournal extends Journal {
  look(): Promise<Standing>;
  /**
   * Begins a new epoch if nobody leads. From then on no append of an earlier leader succeeds, and
   * `append` of this journal names the new epoch. Returns undefined if another replica leads.
   */
  claim(me: Pick<ReplicaReport, "id" | "address">, leaseMs: number): Promise<Standing | undefined>;
  /**
   * Each commit of this journal renews the lease too. `sending` is called before a commit is sent, and
   * what it returns once it is written.
   */
  renewWithCommits(sending: () => () => void): void;
  /** Returns undefined if this replica no longer leads. */
  renew(leaseMs: number): Promise<Standing | undefined>;
  /** Ends the epoch, so that another replica can lead at once. Has no effect if it does not lead. */
  resign(): Promise<void>;
  /** Says that this replica runs, and which format it reads. */
  report(replica: ReplicaReport): Promise<void>;
  /** The newest format of events that may be appended. */
  readonly format: number;
  /** For the leader: raises the format to its own if every replica that reports can read it. */
  raiseFormat(): Promise<number>;
  /** Removes the replica from the list, and those that are long gone. */
  forget(id: string): Promise<void>;
  replicas(): Promise<readonly KnownReplica[]>;
  /** Calls back soon after each commit and each change of the leader; while it is not live, never. */
  watch(watcher: JournalWatcher): { readonly isLive: boolean; stop(): void };
}
