import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import { journalFormat } from "./format.ts";
import { type Journal, JournalConflict, type Snapshot } from "./journal.ts";
import { MemoryJournal } from "./memory.ts";
import type { JournalWatcher, KnownReplica, SharedJournal, Standing } from "./shared-journal.ts";

/** What would be in the database. `nowMs` is its clock. */
export class SharedStore {
  readonly journal = new MemoryJournal("secret");
  nowMs = 1_000_000;
  epoch = 0;
  leader: { replica: string; address: string | null; sinceMs: number } | null = null;
  expiresAtMs = 0;
}

/** One replica's connection to it, which a test can cut or delay. */
export class SharedMemory implements SharedJournal {
  readonly format = journalFormat;
  readonly #store: SharedStore;
  #epoch: number | null = null;
  #leaseMs = 0;
  #sending: () => () => void = () => () => {};
  /** If set, every renewal throws it. */
  renewalFails: Error | undefined;
  /** If set, every call throws it. */
  fails: Error | undefined;
  /** Reading waits for it. */
  mayRead: Promise<void> | undefined;
  /** How often the journal was read. */
  reads = 0;
  /** Set by the replica: tells it that something was committed. */
  watcher: JournalWatcher | undefined;
  /** Called after a statement was executed and before its answer arrives. */
  onAnswer: () => void = () => {};

  constructor(store: SharedStore) {
    this.#store = store;
  }

  get secret(): string {
    return this.#store.journal.secret;
  }

  get head(): number {
    return this.#store.journal.head;
  }

  get bytes(): number {
    return this.#store.journal.bytes;
  }

  async append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number> {
    this.#mustReach();
    if (this.#epoch !== this.#store.epoch) throw new JournalConflict("another replica leads");
    const written = this.#sending();
    if (events.length > 0) this.#store.expiresAtMs = this.#store.nowMs + this.#leaseMs;
    const seq = await this.#store.journal.append(head, at, events);
    if (events.length > 0) written();
    return seq;
  }

  async *read(seq: number): ReturnType<Journal["read"]> {
    this.#mustReach();
    this.reads += 1;
    await this.mayRead;
    yield* this.#store.journal.read(seq);
  }

  search(text: string, from: number, to: number): ReturnType<Journal["search"]> {
    return this.#store.journal.search(text, from, to);
  }

  saveSnapshot(snapshot: Snapshot): Promise<void> {
    return this.#store.journal.saveSnapshot(snapshot);
  }

  loadSnapshot(): Promise<Snapshot | undefined> {
    return this.#store.journal.loadSnapshot();
  }

  prune(before: Instant): Promise<number> {
    return this.#store.journal.prune(before);
  }

  async close(): Promise<void> {}

  async look(): Promise<Standing> {
    this.#mustReach();
    return this.#standing();
  }

  async claim(
    { id, address }: { id: string; address: string | null },
    leaseMs: number,
  ): Promise<Standing | undefined> {
    this.#mustReach();
    const store = this.#store;
    const leftMs = store.expiresAtMs - store.nowMs;
    if (leftMs > 0 && leftMs <= 2 * leaseMs) return undefined;
    store.epoch += 1;
    store.leader = { replica: id, address, sinceMs: store.nowMs };
    store.expiresAtMs = store.nowMs + leaseMs;
    this.#leaseMs = leaseMs;
    this.#epoch = store.epoch;
    this.onAnswer();
    return this.#standing();
  }

  renewWithCommits(sending: () => () => void): void {
    this.#sending = sending;
  }

  async renew(leaseMs: number): Promise<Standing | undefined> {
    this.#mustReach();
    if (this.renewalFails !== undefined) throw this.renewalFails;
    if (this.#epoch !== this.#store.epoch) return undefined;
    this.#store.expiresAtMs = this.#store.nowMs + leaseMs;
    this.onAnswer();
    return this.#standing();
  }

  async resign(): Promise<void> {
    this.#mustReach();
    if (this.#epoch !== this.#store.epoch) return;
    this.#store.epoch += 1;
    this.#store.leader = null;
    this.#store.expiresAtMs = 0;
    this.#epoch = null;
  }

  async raiseFormat(): Promise<number> {
    return this.format;
  }

  /** Resolves when the replica is in the list. */
  reported: Promise<void> = Promise.resolve();

  report(): Promise<void> {
    return this.reported;
  }

  async forget(): Promise<void> {}

  async replicas(): Promise<readonly KnownReplica[]> {
    return [];
  }

  watch(watcher: JournalWatcher): { isLive: boolean; stop(): void } {
    this.watcher = watcher;
    return { isLive: false, stop: () => {} };
  }

  #mustReach(): void {
    if (this.fails !== undefined) throw this.fails;
  }

  #standing(): Standing {
    const { epoch, leader, expiresAtMs, nowMs } = this.#store;
    return { head: this.head, epoch, leader, remainingMs: expiresAtMs - nowMs, nowMs };
  }
}
