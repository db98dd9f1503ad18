/** The journal: its interface and errors, and the form in which engines store a commit. */
import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import { isKnownType, journalFormat } from "./format.ts";

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
   * Returns the commits with events from `from` up to `to` whose JSON text contains `text`, oldest
   * first. A commit is returned whole, and pruned commits are left out.
   */
  search(text: string, from: number, to: number): Promise<readonly Recorded[]>;
  /**
   * Replaces the last snapshot with a later one. Readers see the old or the new one, never a part.
   */
  saveSnapshot(snapshot: Snapshot): Promise<void>;
  loadSnapshot(): Promise<Snapshot | undefined>;
  /** About how much space the commits and the snapshot take. */
  readonly bytes: number;
  /**
   * Removes commits that are covered by the snapshot, oldest first: those older than `before`, and
   * more of them while the journal has more than `bytesMax`. The last commit always stays. Returns
   * the number of removed commits. Throws `JournalUnavailable` as `append` does.
   */
  prune(before: Instant, bytesMax?: number): Promise<number>;
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

/** The write failed now. The same call may succeed later. `hint` says what a person can do. */
export class JournalUnavailable extends Error {
  override readonly name = "JournalUnavailable";
  readonly hint: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly hint?: string }) {
    super(message, options);
    this.hint = options?.hint;
  }
}

/** The requested events were pruned. The snapshot contains their result. */
export class JournalPruned extends Error {
  override readonly name = "JournalPruned";
}

/** The events contradict each other: the file is damaged, or another program has written to it. */
export class JournalDamaged extends Error {
  override readonly name = "JournalDamaged";
}

/**
 * The journal fails until a person fixes the cause. `hint` says how. `input` is set if the cause is a
 * file that somebody has named: it is missing, or its content cannot be used.
 */
export class JournalUnusable extends Error {
  override readonly name = "JournalUnusable";
  readonly hint: string;
  /** What is wrong with what somebody named: it is missing, damaged, or not what is needed. */
  readonly input: "missing" | "bad" | "wrong" | undefined;

  constructor(
    message: string,
    hint: string,
    options?: ErrorOptions & { readonly input?: JournalUnusable["input"] },
  ) {
    super(message, options);
    this.hint = hint;
    this.input = options?.input;
  }
}

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
    if (Array.isArray(events) && events.length === commit.count) {
      mustKnow(commit.seq, events);
      return events;
    }
  } catch (error) {
    if (error instanceof JournalUnusable) throw error;
    cause = error;
  }
  throw new JournalUnusable(
    `Cannot read event ${commit.seq} of the journal: its commit is damaged`,
    "List the damage with: berth journal check; then restore the data folder from a backup",
    { cause },
  );
}

const newerBerth =
  "A newer Berth has written it: start that version, or restore a backup from before the upgrade";

/** Nobody knows what an event of a newer Berth means, so it must not be left out. */
function mustKnow(seq: number, events: readonly DurableEvent[]): void {
  const unknown = events.findIndex(({ type }) => !isKnownType(type));
  if (unknown < 0) return;
  const type = JSON.stringify(String(events[unknown]?.type).slice(0, 60));
  throw new JournalUnusable(
    `Cannot read event ${seq + unknown} of the journal: this Berth does not know the type ${type}`,
    newerBerth,
  );
}

/** Throws `JournalUnusable` if the journal may have events that this Berth does not know. */
export function mustKnowFormat(mark: number, name: string, known = journalFormat): void {
  if (mark <= known) return;
  const state = `it has events of format ${mark}, and this Berth reads up to ${known}`;
  throw new JournalUnusable(`Cannot open the journal ${name}: ${state}`, newerBerth);
}

/** A part of the events would be missing. */
export function unfinishedCopy(name: string): JournalUnusable {
  return new JournalUnusable(
    `Cannot open the journal ${name}: a copy into it has begun and not ended`,
    "Repeat berth journal copy or berth restore, which goes on where it ended",
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
