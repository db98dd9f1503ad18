import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";

/** One commit: the events that became durable together, and the time. */
export interface Recorded {
  /** The number of the first event. The first event of a journal is 1, and there are no gaps. */
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly DurableEvent[];
}

/** The state after all events up to and including `seq`, so that they need not be read again. */
export interface Snapshot {
  readonly seq: number;
  readonly at: Instant;
  /** The result of `freeze` in the core, as JSON text. */
  readonly state: string;
}

/** The only durable data: one total order of events. Every engine passes `journal.suite.ts`. */
export interface Journal {
  /** Created once with the journal. Lease tokens are derived from it. */
  readonly secret: string;
  /** The number of the last event; 0 if the journal is empty. */
  readonly head: number;
  /**
   * Appends all events durably or none of them, and returns the new head. `head` is the last event
   * that the caller knows. Throws `JournalConflict` if another process has written since, and
   * `JournalUnavailable` if the disk is full or fails; `head` has then not changed, and a later
   * append may succeed. Without events it appends nothing, but still throws if the journal is not
   * writable. The broker uses this as a probe.
   */
  append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number>;
  /**
   * Yields every commit with events after `seq`, oldest first, without the events up to `seq`, and
   * ends once it has caught up. Throws `JournalPruned` if some of these events were pruned.
   */
  read(seq: number): AsyncIterable<Recorded>;
  /**
   * Replaces the last snapshot with a later one. Readers see the old or the new one, never a part.
   */
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  loadSnapshot(): Promise<Snapshot | undefined>;
  /**
   * Removes commits that are older than `before` and covered by the snapshot, oldest first. The
   * last commit always stays. Returns the number of removed commits. Throws `JournalUnavailable` as
   * `append` does.
   */
  prune(before: Instant): Promise<number>;
  /** Keeps everything that was appended. Every later call throws. */
  close(): Promise<void>;
}

/**
 * Another process has written to the journal, so the caller's state is out of date and it must not
 * write.
 */
export class JournalConflict extends Error {
  override readonly name = "JournalConflict";
}

/** The write failed now. The same call may succeed later. */
export class JournalUnavailable extends Error {
  override readonly name = "JournalUnavailable";
}

/** The requested events were pruned. The snapshot contains their result. */
export class JournalPruned extends Error {
  override readonly name = "JournalPruned";
}

/** The events contradict each other: the file is damaged, or another program has written to it. */
export class JournalDamaged extends Error {
  override readonly name = "JournalDamaged";
}

/** The journal fails until a person fixes the cause. `hint` says how. */
export class JournalUnusable extends Error {
  override readonly name = "JournalUnusable";
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
