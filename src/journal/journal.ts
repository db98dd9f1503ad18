import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";

/** One commit: the events that became true together, and when. */
export interface Recorded {
  /** Number of the first event; the journal's first event is 1, and there are no gaps. */
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly DurableEvent[];
}

/** All that events up to and including `seq` amount to, so that they need not be read again. */
export interface Snapshot {
  readonly seq: number;
  readonly at: Instant;
  /** What `freeze` of the core made, as JSON text. */
  readonly state: string;
}

/** The only durable thing: one total order of events. Every engine passes `journal.suite.ts`. */
export interface Journal {
  /** Made once with the journal and as old as it: what lease tokens are derived from. */
  readonly secret: string;
  /** Number of the last event, 0 for an empty journal. */
  readonly head: number;
  /**
   * Appends all of them, durably, or none, and answers the new head. `head` is the last event that
   * the caller knows of. Throws `JournalConflict` when another has written since,
   * `JournalUnavailable` when the disk is full or failing; then `head` has not moved, and a later
   * append may work again. With no events nothing is appended, but it still throws where writing
   * does not work: that is how a broker finds out when it does again.
   */
  append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number>;
  /**
   * Yields every commit that has events after `seq`, oldest first, cut so that none is older, and
   * ends once it has caught up. Throws `JournalPruned` when some of them are no longer kept.
   */
  read(seq: number): AsyncIterable<Recorded>;
  /** Replaces the last snapshot by a later one; readers see the old or the new, never a part. */
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  loadSnapshot(): Promise<Snapshot | undefined>;
  /**
   * Forgets commits that are older than `before` and that the snapshot covers, the oldest first;
   * the last commit always stays. Answers how many went. Throws `JournalUnavailable` as `append`.
   */
  prune(before: Instant): Promise<number>;
  /** Everything appended stays; any call after this one throws. */
  close(): Promise<void>;
}

/** Another writer has moved the journal on: this one must not write from what it believes. */
export class JournalConflict extends Error {
  override readonly name = "JournalConflict";
}

/** Writing did not work now; the same call may work later. */
export class JournalUnavailable extends Error {
  override readonly name = "JournalUnavailable";
}

/** The events asked for are forgotten: what they amounted to is in the snapshot. */
export class JournalPruned extends Error {
  override readonly name = "JournalPruned";
}

/** What is written in it cannot have happened: the file is damaged, or another program wrote to it. */
export class JournalDamaged extends Error {
  override readonly name = "JournalDamaged";
}

/** Does not work and will not until a person does something: `hint` says what. */
export class JournalUnusable extends Error {
  override readonly name = "JournalUnusable";
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
