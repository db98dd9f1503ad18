import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded, Snapshot } from "../journal/journal.ts";
import { MemoryJournal } from "../journal/memory.ts";

/** A journal that holds its commits back, fails, and counts, as a test tells it to. */
export class HandJournal implements Journal {
  readonly memory: MemoryJournal;
  /** The events of every append that came, in order; empty ones are probes. */
  readonly appends: (readonly DurableEvent[])[] = [];
  snapshots = 0;
  /** What calls throw instead of working. */
  appendFails: Error | undefined;
  readFails: Error | undefined;
  snapshotFails: Error | undefined;
  /** The next append is made durable, and then fails all the same: its writer cannot tell. */
  losesNextReply: Error | undefined;
  /** Appends are made durable, and answered only when this has resolved. */
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

  /** From now on appends wait, until `open`. */
  shut(): void {
    this.#gate ??= Promise.withResolvers();
    this.#arrived = Promise.withResolvers();
  }

  /** Resolves when an append has come to the gate that was shut last. */
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

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    if (this.snapshotFails !== undefined) throw this.snapshotFails;
    this.snapshots += 1;
    await this.memory.saveSnapshot(snapshot);
  }

  loadSnapshot(): Promise<Snapshot | undefined> {
    return this.memory.loadSnapshot();
  }

  prune(before: Instant): Promise<number> {
    return this.memory.prune(before);
  }

  close(): Promise<void> {
    return this.memory.close();
  }
}
