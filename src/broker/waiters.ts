/** Everyone who waits for the broker: senders of commands, open long polls, listeners. */
import type { Command } from "../core/model/command.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { RequestId, SpaceName } from "../core/model/ids.ts";
import type { Origin } from "../core/model/origin.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded } from "../journal/journal.ts";
import { type BrokerListener, BrokerOverloaded } from "./broker-contract.ts";

/** The largest number of commands in one commit. It limits how long one turn takes. */
const batchMax = 4_096;

/** A command with the promise that its sender awaits. */
export interface QueuedCommand {
  readonly command: Command;
  readonly from: Origin | undefined;
  readonly arrivedAt: Instant;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** Commands that are not decided yet, in the order in which they arrived. */
export class CommandQueue {
  readonly #lengthMax: number;
  #queued: QueuedCommand[] = [];

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get length(): number {
    return this.#queued.length;
  }

  get first(): QueuedCommand | undefined {
    return this.#queued[0];
  }

  /** Rejects at once with `BrokerOverloaded` if the queue is full. */
  add(command: Command, arrivedAt: Instant, from?: Origin): Promise<Outcome> {
    if (this.length >= this.#lengthMax) {
      const message = `Cannot decide: ${this.#lengthMax} commands are already queued`;
      return Promise.reject(new BrokerOverloaded(message));
    }
    return new Promise((resolve, reject) => {
      this.#queued.push({ command, from, arrivedAt, resolve, reject });
    });
  }

  takeBatch(): readonly QueuedCommand[] {
    const all = this.#queued;
    this.#queued = all.slice(batchMax);
    return all.length <= batchMax ? all : all.slice(0, batchMax);
  }

  /** Puts a batch back at the front of the queue, because it arrived first. */
  requeue(batch: readonly QueuedCommand[]): void {
    this.#queued = [...batch, ...this.#queued];
  }

  rejectAll(error: Error): void {
    const rejected = this.#queued;
    this.#queued = [];
    for (const { reject } of rejected) reject(error);
  }
}

/** One open long poll. */
export interface Wait {
  readonly until: Instant;
  /** Whether the client of the request waits, not an observer. The request then counts as polled. */
  readonly present: boolean;
  /** Of the client that waits. */
  readonly space?: SpaceName | undefined;
  readonly end: () => void;
}

/** The open long polls, by the request or lease that they wait for. */
export class Waits {
  readonly #waits = new Map<RequestId, Set<Wait>>();
  readonly #bySpace = new Map<SpaceName, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(space: SpaceName): number {
    return this.#bySpace.get(space) ?? 0;
  }

  has(id: RequestId): boolean {
    return this.#waits.has(id);
  }

  /** The latest end of a long poll by the client of the request; undefined if there is none. */
  presentUntil(id: RequestId): Instant | undefined {
    let latest: Instant | undefined;
    for (const { until, present } of this.#waits.get(id) ?? []) {
      if (present && (latest === undefined || until > latest)) latest = until;
    }
    return latest;
  }

  /** Returns a function that removes the wait. Calling it twice is harmless. */
  add(id: RequestId, wait: Wait): () => void {
    const waits = this.#waits.get(id);
    if (waits === undefined) this.#waits.set(id, new Set([wait]));
    else waits.add(wait);
    this.#size += 1;
    this.#count(wait.space, 1);
    return () => this.#remove(id, wait);
  }

  /** Ends the long polls that this event is for: the request is settled, or the lease is lost. */
  endWith(event: DurableEvent): void {
    switch (event.type) {
      case "lease-granted":
      case "request-left":
      case "lease-revoked":
      case "notice-given":
      case "lease-ended":
        this.end(event.id);
    }
  }

  end(id: RequestId): void {
    for (const { end } of [...(this.#waits.get(id) ?? [])]) end();
  }

  endAll(): void {
    for (const id of [...this.#waits.keys()]) this.end(id);
  }

  ids(): Iterable<RequestId> {
    return this.#waits.keys();
  }

  #remove(id: RequestId, wait: Wait): void {
    const waits = this.#waits.get(id);
    if (!waits?.delete(wait)) return;
    this.#size -= 1;
    this.#count(wait.space, -1);
    if (waits.size === 0) this.#waits.delete(id);
  }

  #count(space: SpaceName | undefined, change: 1 | -1): void {
    if (space === undefined) return;
    const count = this.sizeOf(space) + change;
    if (count === 0) this.#bySpace.delete(space);
    else this.#bySpace.set(space, count);
  }
}

/** All listeners of a broker. If one of them throws, the others are still called. */
export class Listeners {
  readonly #listeners = new Set<BrokerListener>();
  #isPruning = false;
  #isWaitingForListeners = false;

  add(listener: BrokerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  committed(recorded: Recorded, state: State): void {
    this.#notify((listener) => listener.committed?.(recorded, state));
  }

  writable(cause: Error | null): void {
    this.#notify((listener) => listener.writable?.(cause));
  }

  fatal(cause: Error): void {
    this.#notify((listener) => listener.fatal?.(cause));
  }

  failed(what: string, cause: unknown): void {
    for (const listener of this.#listeners) {
      try {
        listener.failed?.(what, cause);
      } catch {
        // `failed` is the only channel for errors, so its own error cannot be reported anywhere.
      }
    }
  }

  /**
   * Prunes the journal after every listener has caught up. Commits go on meanwhile. If an earlier
   * pruning still runs, this one is skipped; the next snapshot starts another one.
   */
  async pruneBehind(
    journal: Journal,
    { before, bytesMax }: { readonly before: Instant; readonly bytesMax: number },
    isOpen: () => boolean,
  ): Promise<void> {
    if (this.#isPruning) {
      if (this.#isWaitingForListeners) this.failed("pruning the journal", notCaughtUp());
      return;
    }
    this.#isPruning = true;
    try {
      await this.#allCaughtUp();
      if (isOpen()) await journal.prune(before, bytesMax);
    } catch (cause) {
      this.failed("pruning the journal", cause);
    } finally {
      this.#isPruning = false;
    }
  }

  async #allCaughtUp(): Promise<void> {
    this.#isWaitingForListeners = true;
    try {
      await Promise.all(Array.from(this.#listeners, (listener) => listener.caughtUp?.()));
    } finally {
      this.#isWaitingForListeners = false;
    }
  }

  #notify(call: (listener: BrokerListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        call(listener);
      } catch (cause) {
        this.failed("a listener of the broker", cause);
      }
    }
  }
}

function notCaughtUp(): Error {
  return new Error("Cannot prune: a listener has not caught up since the last snapshot");
}
