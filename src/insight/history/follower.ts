import type { EventLoopUtilization } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { emptyState } from "../../core/apply/create.ts";
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import type { State } from "../../core/model/state.ts";
import { type Journal, JournalPruned, type Recorded } from "../../journal/journal.ts";
import type { HistoryEntry } from "./entry.ts";
import { HistoryFold } from "./fold.ts";
import type { HistoryStore } from "./store.ts";

/** The broker, as far as a follower sees it. */
export interface Followed {
  /** Number of the last event that is committed. */
  readonly head: number;
  now(): number;
  listen(listener: { committed(recorded: Recorded): void; caughtUp(): Promise<void> }): () => void;
}

export interface FollowerOptions {
  /** What ended longer ago than this is dropped. */
  readonly retentionMs: number;
  /** Events are collected for so long: what begins and ends within is written once. */
  readonly everyMs: number;
  /** While this thread has no time to spare it is put off, but no longer than this. */
  readonly patienceMs: number;
  /** Events per transaction: it bounds how long others wait for this thread. */
  readonly sliceEvents: number;
  /** Tells one journal from another; absent: there can be only one. */
  readonly journalId?: string | undefined;
  /** Told when it cannot be written; it is tried again by itself. */
  readonly failed: (cause: unknown) => void;
  /** Told what has ended, once it is stored. */
  readonly ended: (entries: readonly HistoryEntry[]) => void;
}

export const defaultFollowerOptions: FollowerOptions = {
  retentionMs: 90 * 24 * 3_600_000,
  everyMs: 1_000,
  patienceMs: 30_000,
  sliceEvents: 256,
  failed: () => {},
  ended: () => {},
};

/** More than these are not kept in memory: a follower that far behind reads the journal. */
const bufferedEventsMax = 20_000;
/** At the end so many are still followed; more are left to the next start. */
const lastEventsMax = 5_000;
const forgetEveryMs = 10 * 60_000;
/** With a larger share of its time at work, the thread has none to spare. */
const busyShare = 0.75;

/**
 * Keeps history in step with the journal, a little behind it and in small slices, so that nobody who
 * asks for a lease waits for it. Where it stands is stored with what it has found: after a crash it
 * goes on behind the last event that counts, and reads what it has missed from the journal.
 */
export class HistoryFollower {
  readonly #store: HistoryStore;
  readonly #journal: Pick<Journal, "read" | "loadSnapshot">;
  readonly #followed: Followed;
  readonly #options: FollowerOptions;
  readonly #waiting = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  readonly #stopListening: () => void;
  #fold: HistoryFold;
  /** The journal that the store was written from; undefined: it fits the one that is followed. */
  #unchecked: string | undefined;
  /** The last event that the fold has seen; the store may be some behind. */
  #reached: number;
  #unsaved = 0;
  #buffer: Recorded[] = [];
  #buffered = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #closed = false;
  #failing = false;
  #forgetAt = 0;
  #behindSinceMs = 0;

  constructor(
    store: HistoryStore,
    journal: Pick<Journal, "read" | "loadSnapshot">,
    followed: Followed,
    options: Partial<FollowerOptions> = {},
  ) {
    this.#store = store;
    this.#journal = journal;
    this.#followed = followed;
    this.#options = { ...defaultFollowerOptions, ...options };
    const standing = store.load();
    this.#fold = new HistoryFold(standing);
    this.#unchecked = standing.journal;
    this.#reached = store.seq;
    this.#stopListening = followed.listen({
      committed: (recorded) => this.#hear(recorded),
      caughtUp: () => this.onDisk(),
    });
    this.#later();
  }

  /** How many events it has yet to follow. */
  get lag(): number {
    return Math.max(0, this.#followed.head - this.#store.seq);
  }

  /** Resolves once history has all that is committed now. Never does after `close`. */
  caughtUp(): Promise<void> {
    const seq = this.#followed.head;
    if (this.#store.seq >= seq && this.#unchecked === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add({ seq, resolve });
      this.#start();
    });
  }

  /** As `caughtUp`, and a power cut takes none of it: the journal may forget those events. */
  async onDisk(): Promise<void> {
    await this.caughtUp();
    this.#store.sync();
  }

  /** Stops after the slice under way. What it has not followed is followed after the next start. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#closed = this.lag > lastEventsMax;
    await this.#running;
    if (!this.#closed) this.#start();
    await this.#running;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#store.close();
  }

  #hear(recorded: Recorded): void {
    if (this.#buffered === 0) this.#behindSinceMs = performance.now();
    this.#buffered += recorded.events.length;
    if (this.#buffered <= bufferedEventsMax) this.#buffer.push(recorded);
    else this.#buffer = [];
    this.#later();
  }

  #later(delayMs = this.#options.everyMs): void {
    if (this.#closed || this.#running !== undefined || this.#timer !== undefined) return;
    const before = performance.eventLoopUtilization();
    this.#timer = setTimeout(() => this.#startIfQuiet(before), delayMs).unref();
  }

  /** Whoever asks for a lease comes first: a burst is written down when it is over. */
  #startIfQuiet(before: EventLoopUtilization): void {
    const { utilization } = performance.eventLoopUtilization(before);
    const waitedMs = performance.now() - this.#behindSinceMs;
    if (utilization < busyShare || waitedMs > this.#options.patienceMs) return this.#start();
    this.#timer = undefined;
    this.#later();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.lag > 0) this.#later();
    });
  }

  async #run(): Promise<void> {
    try {
      if (this.#unchecked !== undefined) await this.#fit(this.#unchecked);
      do await this.#catchUp(this.#followed.head);
      while (this.#waiting.size > 0 && !this.#closed);
      this.#failing = false;
      await this.#forget();
    } catch (cause) {
      await this.#recover(cause).catch((worse) => this.#tell(worse));
    }
  }

  /** Once, however often it is tried again. */
  #tell(cause: unknown): void {
    if (!this.#failing) this.#options.failed(cause);
    this.#failing = true;
  }

  /**
   * The journal and history are two files, so one of them may have been replaced, by a backup or by
   * an empty one. The entries stay, because they happened; what is open and how large pools are is
   * what the journal says.
   */
  async #fit(writtenFrom: string): Promise<void> {
    const { journalId = writtenFrom } = this.#options;
    if (writtenFrom !== "" && writtenFrom !== journalId) {
      const { state, at, seq } = await this.#oldestKnown();
      this.#fold.startOver(state, at);
      this.#reached = seq;
      await this.#save();
    } else if (this.#reached > this.#followed.head) await this.#rewind();
    if (writtenFrom !== journalId) this.#store.nameJournal(journalId);
    this.#unchecked = undefined;
    this.#resolveWaiting();
  }

  /** Where the journal begins, or the snapshot where its beginning is pruned. */
  async #oldestKnown(): Promise<{ state: State; at: number; seq: number }> {
    let at = this.#followed.now();
    try {
      for await (const first of this.#journal.read(0)) {
        at = first.at;
        break;
      }
    } catch (cause) {
      if (!(cause instanceof JournalPruned)) throw cause;
      return await this.#lastSnapshot();
    }
    return { state: emptyState(), at, seq: 0 };
  }

  /** An empty state where there is none. */
  async #lastSnapshot(): Promise<{ state: State; at: number; seq: number }> {
    const snapshot = await this.#journal.loadSnapshot();
    if (snapshot === undefined) return { state: emptyState(), at: this.#followed.now(), seq: 0 };
    const { seq, at, state } = snapshot;
    return { state: thaw(JSON.parse(state) as FrozenState), at, seq };
  }

  /** History is ahead of an older journal: what that one knows of is in history already. */
  async #rewind(): Promise<void> {
    const { state, at, seq } = await this.#lastSnapshot();
    this.#fold.startOver(state, at);
    this.#reached = seq;
    for await (const recorded of this.#journal.read(this.#reached)) {
      this.#fold.follow(recorded);
      this.#reached = recorded.seq + recorded.events.length - 1;
    }
    this.#store.save(this.#reached, { ...this.#fold.take(), ended: [] }, this.#fold.open);
  }

  /**
   * From memory where that has all that follows, otherwise from the journal. What is committed meanwhile
   * is left: under a load that goes on it would never come to an end.
   */
  async #catchUp(head: number): Promise<void> {
    const buffer = this.#buffer;
    this.#buffer = [];
    this.#buffered = 0;
    const [first] = buffer;
    if (first !== undefined && first.seq <= this.#reached + 1) {
      for (const recorded of buffer) await this.#follow(recorded);
    } else {
      for await (const recorded of this.#journal.read(this.#reached)) {
        if (this.#closed || recorded.seq > head) break;
        await this.#follow(recorded);
      }
    }
    if (this.#unsaved > 0) await this.#save();
  }

  /** A commit may be one event or a hundred thousand: it is cut where a slice is full. */
  async #follow({ seq, at, events }: Recorded): Promise<void> {
    let start = Math.max(0, this.#reached + 1 - seq);
    while (start < events.length && !this.#closed) {
      const end = start + this.#options.sliceEvents - this.#unsaved;
      const part = start === 0 && end >= events.length ? events : events.slice(start, end);
      this.#fold.follow({ seq: seq + start, at, events: part });
      start += part.length;
      this.#reached = seq + start - 1;
      this.#unsaved += part.length;
      if (this.#unsaved >= this.#options.sliceEvents) await this.#save();
    }
  }

  async #save(): Promise<void> {
    const changes = this.#fold.take();
    this.#store.save(this.#reached, changes, this.#fold.open);
    this.#unsaved = 0;
    this.#options.ended(changes.ended);
    if (this.#unchecked === undefined) this.#resolveWaiting();
    await setImmediate();
  }

  #resolveWaiting(): void {
    for (const waiting of this.#waiting) {
      if (waiting.seq > this.#store.seq) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** Memory has run ahead of the store: what is stored counts. */
  async #recover(cause: unknown): Promise<void> {
    this.#buffer = [];
    this.#buffered = 0;
    this.#unsaved = 0;
    this.#fold = new HistoryFold(this.#store.load());
    this.#reached = this.#store.seq;
    if (cause instanceof JournalPruned) await this.#startOver();
    else this.#tell(cause);
  }

  /** Events that history has not seen are gone: the snapshot tells what they led to. */
  async #startOver(): Promise<void> {
    const { state, at, seq } = await this.#lastSnapshot();
    if (seq <= this.#reached) return;
    this.#fold.startOver(state, at);
    this.#reached = seq;
    await this.#save();
  }

  async #forget(): Promise<void> {
    const now = this.#followed.now();
    if (now < this.#forgetAt) return;
    this.#forgetAt = now + forgetEveryMs;
    while (!this.#closed && this.#store.forget(now - this.#options.retentionMs)) {
      await setImmediate();
    }
  }
}
