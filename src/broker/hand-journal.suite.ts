import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded, Snapshot } from "../journal/journal.ts";
import { MemoryJournal } from "../journal/memory.ts";

/** A journal that a test controls: it can delay commits, fail and count calls. */
export class HandJournal implements Journal {
  readonly memory: MemoryJournal;
  /** The events of every append, in order. An empty list is a probe. */
  readonly appends: (readonly DurableEvent[])[] = [];
  snapshots = 0;
  /** If set, the calls throw this error. */
  appendFails: Error | undefined;
  readFails: Error | undefined;
  snapshotFails: Error | undefined;
  /** If set, the next append becomes durable and then throws, so the writer does not know. */
  losesNextReply: Error | undefined;
  /** Appends become durable at once, but resolve only after this promise. */
  repliesAfter: Promise<void> | undefined;
  #gate: PromiseWithResolvers<void> | undefined;
  #arrived = Promise.withResolvers<void>();

  constructor(memory = new MemoryJournal("secret")) {
    this.memory = memory;
  }

  get secret(): string {
    return this.memory.secret;
  }

  get head(): number {
    return this.memory.head;
  }

  /** Appends wait from now on until `open` is called. */
  shut(): void {
    this.#gate ??= Promise.withResolvers();
    this.#arrived = Promise.withResolvers();
  }

  /** Resolves when the first append after the last `shut` waits. */
  get arrived(): Promise<void> {
    return this.#arrived.promise;
  }

  open(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  async append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number> {
    this.appends.push(events);
    const gate = this.#gate;
    this.#arrived.resolve();
    await gate?.promise;
    if (this.appendFails !== undefined) throw this.appendFails;
    const next = await this.memory.append(head, at, events);
    await this.repliesAfter;
    const lost = this.losesNextReply;
    this.losesNextReply = undefined;
    if (lost !== undefined) throw lost;
    return next;
  }

  async *read(seq: number): AsyncIterable<Recorded> {
    if (this.readFails !== undefined) throw this.readFails;
    yield* this.memory.read(seq);
  }

  async search(text: string, from: number, to: number): Promise<readonly Recorded[]> {
    if (this.readFails !== undefined) throw this.readFails;
    return await this.memory.search(text, from, to);
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    if (this.snapshotFails !== undefined) throw this.snapshotFails;
    this.snapshots += 1;
    await this.memory.saveSnapshot(snapshot);
  }

  loadSnapshot(): Promise<Snapshot | undefined> {
    return this.memory.loadSnapshot();
  }

  get bytes(): number {
    return this.memory.bytes;
  }

  prune(before: Instant, bytesMax?: number): Promise<number> {
    return this.memory.prune(before, bytesMax);
  }

  close(): Promise<void> {
    return this.memory.close();
  }
}
