import type { EventLoopUtilization } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { type Journal, JournalPruned, type Recorded } from "../../journal/journal.ts";

/** The part of the broker that a follower uses. */
export interface Followed {
  /** The number of the last committed event. */
  readonly head: number;
  now(): number;
  listen(listener: { committed(recorded: Recorded): void; caughtUp(): Promise<void> }): () => void;
}

export interface FollowOptions {
  /** Events are collected for this long. */
  readonly everyMs: number;
  /** While the thread is busy, writing waits, but no longer than this. */
  readonly patienceMs: number;
  /** The number of events per transaction, which limits how long this blocks the thread. */
  readonly sliceEvents: number;
  /** Called when the store cannot be written. The follower tries again by itself. */
  readonly failed: (cause: unknown) => void;
}

export const defaultFollowOptions: FollowOptions = {
  everyMs: 1_000,
  patienceMs: 30_000,
  sliceEvents: 256,
  failed: () => {},
};

/** What is made from the events, in memory and in a store. */
export interface Derived {
  /** The number of the last event whose result is stored. */
  readonly stored: number;
  /** The number of the last event in memory. The store may be behind. */
  readonly reached: number;
  /** How much is in memory and not stored yet. */
  readonly unsaved: number;
  /** Whether the store is known to belong to this journal. Until then `prepare` is called. */
  readonly isPrepared: boolean;
  prepare(): Promise<void>;
  follow(recorded: Recorded): void;
  /** Stores everything with its position in one transaction, or nothing and throws. */
  save(): void;
  /** Saving failed, so memory is ahead of the store. Loads memory from the store again. */
  reload(): void;
  /** Events that are not in memory were pruned. The snapshot of the journal has their result. */
  startOver(): Promise<void>;
  /** All that was committed is saved. */
  afterRun?(): void;
  /** Deletes some of what is too old. Returns whether there may be more. */
  forget(now: number): boolean;
  /** Afterwards everything that was saved survives a power cut. */
  sync(): void;
  close(): void;
}

/** The limit of events in memory. A follower that is further behind reads the journal. */
const bufferedEventsMax = 20_000;
/** On close, at most this many events are still processed. The next start processes the rest. */
const lastEventsMax = 5_000;
const forgetEveryMs = 10 * 60_000;
/** The thread is busy if it works for a larger share of its time. */
const busyShare = 0.75;
/**
 * More events in a second than this are a burst too. A server whose commits go to another machine is
 * never that busy itself, because it waits for them; its clients still come first.
 */
const burstPerSecond = 8_000;

/**
 * Keeps something up to date with the journal, with a small delay and in small slices, so that no
 * client waits for it. Its position is stored together with its results: after a crash it continues
 * after the last stored event and reads missed events from the journal.
 */
export class JournalFollower {
  readonly #derived: Derived;
  readonly #journal: Pick<Journal, "read">;
  readonly #followed: Followed;
  readonly #options: FollowOptions;
  readonly #waiting = new Set<{ readonly seq: number; readonly resolve: () => void }>();
  readonly #stopListening: () => void;
  #buffer: Recorded[] = [];
  #buffered = 0;
  /** Since the timer was set. */
  #arrived = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #closed = false;
  #failing = false;
  #forgetAt = 0;
  #behindSinceMs = 0;

  constructor(
    derived: Derived,
    journal: Pick<Journal, "read">,
    followed: Followed,
    options: Partial<FollowOptions> = {},
  ) {
    this.#derived = derived;
    this.#journal = journal;
    this.#followed = followed;
    this.#options = { ...defaultFollowOptions, ...options };
    this.#stopListening = followed.listen({
      committed: (recorded) => this.#onCommitted(recorded),
      caughtUp: () => this.onDisk(),
    });
    this.wake();
  }

  /** The number of events that are not processed yet. */
  get lag(): number {
    return Math.max(0, this.#followed.head - this.#derived.stored);
  }

  /** Resolves once the store contains every event that is committed now. Never after `close`. */
  caughtUp(): Promise<void> {
    const seq = this.#followed.head;
    const { stored, unsaved, isPrepared } = this.#derived;
    if (stored >= seq && unsaved === 0 && isPrepared) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.add({ seq, resolve });
      this.#start();
    });
  }

  /** Like `caughtUp`, and the data survives a power cut, so the journal may prune those events. */
  async onDisk(): Promise<void> {
    await this.caughtUp();
    this.#derived.sync();
  }

  /** Stops after the running slice. The next start processes the rest. */
  async close(): Promise<void> {
    this.#stopListening();
    this.#closed = this.lag > lastEventsMax;
    await this.#running;
    this.#start();
    await this.#running;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#derived.close();
  }

  /** Saves soon what is in memory. */
  wake(delayMs = this.#options.everyMs): void {
    if (this.#closed || this.#running !== undefined || this.#timer !== undefined) return;
    const before = performance.eventLoopUtilization();
    const setAtMs = performance.now();
    this.#arrived = 0;
    this.#timer = setTimeout(() => this.#startIfQuiet(before, setAtMs), delayMs).unref();
  }

  #onCommitted(recorded: Recorded): void {
    if (this.#buffered === 0) this.#behindSinceMs = performance.now();
    this.#buffered += recorded.events.length;
    this.#arrived += recorded.events.length;
    if (this.#buffered <= bufferedEventsMax) this.#buffer.push(recorded);
    else this.#buffer = [];
    this.wake();
  }

  /** Clients come first: a burst of events is written when it is over. */
  #startIfQuiet(before: EventLoopUtilization, setAtMs: number): void {
    const now = performance.now();
    const { utilization } = performance.eventLoopUtilization(before);
    const isBurst = (this.#arrived * 1_000) / Math.max(1, now - setAtMs) > burstPerSecond;
    const isBusy = utilization >= busyShare || isBurst;
    if (!isBusy || now - this.#behindSinceMs > this.#options.patienceMs) return this.#start();
    this.#timer = undefined;
    this.wake();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.lag > 0 || this.#derived.unsaved > 0) this.wake();
    });
  }

  async #run(): Promise<void> {
    try {
      if (!this.#derived.isPrepared) await this.#derived.prepare();
      this.#resolveWaiting();
      do await this.#catchUp(this.#followed.head);
      while (this.#waiting.size > 0 && !this.#closed);
      await this.#forget();
      this.#derived.afterRun?.();
      this.#failing = false;
    } catch (cause) {
      await this.#recover(cause).catch((worse) => this.#reportFailure(worse));
    }
  }

  /** Reports an outage once, however often the follower tries again. */
  #reportFailure(cause: unknown): void {
    if (!this.#failing) this.#options.failed(cause);
    this.#failing = true;
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
    if (first !== undefined && first.seq <= this.#derived.reached + 1) {
      for (const recorded of buffer) await this.#follow(recorded);
    } else {
      for await (const recorded of this.#journal.read(this.#derived.reached)) {
        if (this.#closed || recorded.seq > head) break;
        await this.#follow(recorded);
      }
    }
    if (this.#derived.unsaved > 0) await this.#save();
  }

  /** A commit has one event or a hundred thousand, so it is split at the end of a slice. */
  async #follow({ seq, at, events }: Recorded): Promise<void> {
    let start = Math.max(0, this.#derived.reached + 1 - seq);
    while (start < events.length && !this.#closed) {
      const end = start + Math.max(1, this.#options.sliceEvents - this.#derived.unsaved);
      const part = start === 0 && end >= events.length ? events : events.slice(start, end);
      this.#derived.follow({ seq: seq + start, at, events: part });
      start += part.length;
      if (this.#derived.unsaved >= this.#options.sliceEvents) await this.#save();
    }
  }

  async #save(): Promise<void> {
    this.#derived.save();
    if (this.#derived.isPrepared) this.#resolveWaiting();
    await setImmediate();
  }

  #resolveWaiting(): void {
    for (const waiting of this.#waiting) {
      if (waiting.seq > this.#derived.stored) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  async #recover(cause: unknown): Promise<void> {
    this.#buffer = [];
    this.#buffered = 0;
    this.#derived.reload();
    if (cause instanceof JournalPruned) await this.#derived.startOver();
    else this.#reportFailure(cause);
  }

  async #forget(): Promise<void> {
    const now = this.#followed.now();
    if (now < this.#forgetAt) return;
    this.#forgetAt = now + forgetEveryMs;
    while (!this.#closed && this.#derived.forget(now)) await setImmediate();
  }
}
