import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import {
  JournalConflict,
  JournalPruned,
  JournalUnusable,
  type Recorded,
  type Snapshot,
} from "./journal.ts";

/**
 * A commit as the engines store it. Its events are one JSON text, so that a batch of 64 events
 * costs one row, and so that a reader never gets the object that was written.
 */
export interface StoredCommit {
  /** The number of the first event. */
  readonly seq: number;
  readonly at: Instant;
  readonly count: number;
  /** A JSON array of `count` events. */
  readonly events: string;
}

export function storedCommit(
  head: number,
  at: Instant,
  events: readonly DurableEvent[],
): StoredCommit {
  // Infinity would be read as null and a fraction would fail, much later and far from the cause.
  if (!Number.isSafeInteger(at)) {
    throw new RangeError(`Cannot append at ${at}: an instant is a whole number of milliseconds`);
  }
  return { seq: head + 1, at, count: events.length, events: JSON.stringify(events) };
}

/** Returns the part of the commit after `seq`, or the whole commit. */
export function recordedAfter(seq: number, commit: StoredCommit): Recorded {
  const events = parseEvents(commit);
  const skipped = Math.max(0, seq + 1 - commit.seq);
  if (skipped === 0) return { seq: commit.seq, at: commit.at, events };
  return { seq: commit.seq + skipped, at: commit.at, events: events.slice(skipped) };
}

function parseEvents(commit: StoredCommit): readonly DurableEvent[] {
  let cause: unknown;
  try {
    const events: readonly DurableEvent[] = JSON.parse(commit.events);
    if (Array.isArray(events) && events.length === commit.count) return events;
  } catch (error) {
    cause = error;
  }
  throw new JournalUnusable(
    `Cannot read event ${commit.seq} of the journal: its commit is damaged`,
    "Restore the data folder from a backup",
    { cause },
  );
}

export function staleHead(expected: number, actual: number): JournalConflict {
  return new JournalConflict(
    `Cannot append after event ${expected}: the last event of the journal is ${actual}`,
  );
}

export function prunedEvents(wanted: number, kept: number): JournalPruned {
  return new JournalPruned(
    `Cannot read event ${wanted} of the journal: the oldest that is still kept is event ${kept}`,
  );
}

/** A snapshot of events that do not exist, or one older than pruned events, is a bug. */
export function misplacedSnapshot(snapshot: Snapshot, from: number, to: number): RangeError {
  return new RangeError(
    `Cannot save a snapshot of event ${snapshot.seq}: it must lie between ${from} and ${to}`,
  );
}

export function closedJournal(verb: string): Error {
  return new Error(`Cannot ${verb} the journal: it is closed`);
}
