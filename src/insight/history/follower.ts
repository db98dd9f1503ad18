import type { EventLoopUtilization } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { emptyState } from "../../core/apply/create.ts";
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import type { State } from "../../core/model/state.ts";
import { type Journal, JournalPruned, type Recorded } from "../../journal/journal.ts";
import type { HistoryEntry } from "./entry.ts";
import { HistoryFold } from "./fold.ts";
import type { HistoryStore } from "./store.ts";
import type { Upkeep } from "./upkeep-fold.ts";

/** The part of the broker that a follower uses. */
export interface Followed {
  /** The number of the last committed event. */
  readonly head: number;
  now(): number;
  listen(listener: { committed(recorded: Recorded): void; caughtUp(): Promise<void> }): () => void;
}

export interface FollowerOptions {
  /** Entries that ended longer ago than this are deleted. */
  readonly retentionMs: number;
  /** Events are collected for this long. A lease that begins and ends within it is written once. */
  readonly everyMs: number;
  /** While the thread is busy, writing waits, but no longer than this. */
  readonly patienceMs: number;
  /** The number of events per transaction, which limits how long this blocks the thread. */
  readonly sliceEvents: number;
  /** Identifies the journal; absent if there can be only one. */
  readonly journalId?: string | undefined;
  /** Called when the store cannot be written. The follower tries again by itself. */
  readonly failed: (cause: unknown) => void;
  /** Called with the finished entries once they are stored. */
  readonly ended: (entries: readonly HistoryEntry[], upkeep: readonly Upkeep[]) => void;
}

export const defaultFollowerOptions: FollowerOptions = {
  retentionMs: 90 * 24 * 3_600_000,
  everyMs: 1_000,
  patienceMs: 30_000,
  sliceEvents: 256,
  failed: () => {},
  ended: () => {},
};

/** The limit of events in memory. A follower that is further behind reads the journal. */
const bufferedEventsMax = 20_000;
/** On close, at most this many events are still processed. The next start processes the rest. */
const lastEventsMax = 5_000;
const forgetEveryMs = 10 * 60_000;
/** The thread is busy if it works for a larger share of its time. */
const busyShare = 0.75;

/**
 * Keeps the history up to date with the journal, with a small delay and in small slices, so that no
 * client waits for it. Its position is stored together with its results: after a crash it continues
 * after the last stored event and reads missed events from the journal.
 */
export class HistoryFollower {
  readonly #store: HistoryStore;
  readonly #journal: Pick<Journal, "read" | "loadSnapshot">;
  readonly #followed: Followed;
  readonly #options: FollowerOptions;
  readonly #waiting = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  readonly #stopListening: () => void;
  #fold: HistoryFold;
  /** The id of the journal that the store was written from; undefined once it was checked. */
  #uncheckedJournal: string | undefined;
  /** False: an older Berth wrote the store, without the capacities of shared resources. */
  #hasCapacities: boolean;
  /** The last event in the fold. The store may be behind. */
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
    this.#uncheckedJournal = standing.journal;
    this.#hasCapacities = standing.hasCapacities;
    this.#reached = store.seq;
    this.#stopListening = followed.listen({
      committed: (recorded) => this.#onCommitted(recorded),
      caughtUp: () => this.onDisk(),
    });
    this.#later();
  }

  /** The number of events that are not processed yet. */
  get lag(): number {
    return Math.max(0, this.#followed.head - this.#store.seq);
  }

  /**
   * Resolves once history contains every event that is committed now. Never resolves after `close`.
   */
  caughtUp(): Promise<void> {
    const seq = this.#followed.head;
    if (this.#store.seq >= seq && this.#isPrepared) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add({ seq, resolve });
      this.#start();
    });
  }

  /** Like `caughtUp`, and the data survives a power cut, so the journal may prune those events. */
  async onDisk(): Promise<void> {
    await this.caughtUp();
    this.#store.sync();
  }

  /** Stops after the running slice. The next start processes the rest. */
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

  #onCommitted(recorded: Recorded): void {
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

  /** Clients come first: a burst of events is written when it is over. */
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
      if (this.#uncheckedJournal !== undefined) await this.#matchJournal(this.#uncheckedJournal);
      if (!this.#hasCapacities) await this.#learnCapacities();
      this.#resolveWaiting();
      do await this.#catchUp(this.#followed.head);
      while (this.#waiting.size > 0 && !this.#closed);
      this.#failing = false;
      await this.#forget();
    } catch (cause) {
      await this.#recover(cause).catch((worse) => this.#reportFailure(worse));
    }
  }

  /** Whether the store belongs to the journal and has all that this version records. */
  get #isPrepared(): boolean {
    return this.#uncheckedJournal === undefined && this.#hasCapacities;
  }

  /** Reports an outage once, however often the follower tries again. */
  #reportFailure(cause: unknown): void {
    if (!this.#failing) this.#options.failed(cause);
    this.#failing = true;
  }

  /**
   * Journal and history are two files, so one of them may have been replaced by a backup or an
   * empty file. Finished entries stay, because they happened. Open entries and pool sizes come from
   * the journal.
   */
  async #matchJournal(writtenFrom: string): Promise<void> {
    const { journalId = writtenFrom } = this.#options;
    if (writtenFrom !== "" && writtenFrom !== journalId) {
      const { state, at, seq } = await this.#oldestKnown();
      this.#fold.startOver(state, at);
      this.#reached = seq;
      await this.#save();
    } else if (this.#reached > this.#followed.head) await this.#rewind();
    if (writtenFrom !== journalId) this.#store.nameJournal(journalId);
    this.#uncheckedJournal = undefined;
  }

  /** From the snapshot, because the events that added the resources may be pruned, and later events. */
  async #learnCapacities(): Promise<void> {
    if (this.#reached > 0) {
      const now = this.#followed.now();
      const { state, seq: snapshotSeq } = await this.#lastSnapshot();
      for (const { name, ...resource } of state.resources.values()) {
        if (resource.sharing === "shared") this.#fold.learnCapacity(name, resource.spec, now);
      }
      for await (const { seq, events } of this.#journal.read(snapshotSeq)) {
        if (seq > this.#reached) break;
        for (const event of events) {
          if (!("room" in event) || event.room === undefined) continue;
          this.#fold.learnCapacity(event.resource, event.room, now);
        }
      }
      await this.#save();
    }
    this.#store.nameSharedPools(this.#fold.sharedPools);
    this.#hasCapacities = true;
  }

  /** The beginning of the journal, or its snapshot if the beginning was pruned. */
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

  /** Returns an empty state if there is no snapshot. */
  async #lastSnapshot(): Promise<{ state: State; at: number; seq: number }> {
    const snapshot = await this.#journal.loadSnapshot();
    if (snapshot === undefined) return { state: emptyState(), at: this.#followed.now(), seq: 0 };
    const { seq, at, state } = snapshot;
    return { state: thaw(JSON.parse(state) as FrozenState), at, seq };
  }

  /** History is ahead of an older journal, so it already contains the events of that journal. */
  async #rewind(): Promise<void> {
    const { state, at, seq } = await this.#lastSnapshot();
    this.#fold.startOver(state, at);
    this.#reached = seq;
    for await (const recorded of this.#journal.read(this.#reached)) {
      this.#fold.follow(recorded);
      this.#reached = recorded.seq + recorded.events.length - 1;
    }
    const changes = { ...this.#fold.take(), ended: [], upkeep: [] };
    this.#store.save(this.#reached, changes, this.#fold.open);
  }

  /**
   * Reads from memory if it contains all following events, otherwise from the journal. Ignores
   * events that are committed meanwhile, because under a constant load it would never end.
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

  /** A commit has one event or a hundred thousand, so it is split at the end of a slice. */
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
    this.#options.ended(changes.ended, changes.upkeep);
    if (this.#isPrepared) this.#resolveWaiting();
    await setImmediate();
  }

  #resolveWaiting(): void {
    for (const waiting of this.#waiting) {
      if (waiting.seq > this.#store.seq) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** Memory is ahead of the store, so the fold is loaded from the store again. */
  async #recover(cause: unknown): Promise<void> {
    this.#buffer = [];
    this.#buffered = 0;
    this.#unsaved = 0;
    this.#fold = new HistoryFold(this.#store.load());
    this.#reached = this.#store.seq;
    if (cause instanceof JournalPruned) await this.#startOver();
    else this.#reportFailure(cause);
  }

  /** Events that history has not processed were pruned. The snapshot contains their result. */
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
