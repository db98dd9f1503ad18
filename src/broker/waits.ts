import type { RequestId } from "../core/model/ids.ts";
import type { Instant } from "../core/model/time.ts";

/** One open long poll. */
export interface Wait {
  readonly until: Instant;
  /** Whether the client of the request waits, not an observer. The request then counts as polled. */
  readonly present: boolean;
  readonly end: () => void;
}

/** The open long polls, by the request that they wait for. */
export class Waits {
  readonly #waits = new Map<RequestId, Set<Wait>>();
  #size = 0;

  get size(): number {
    return this.#size;
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
    return () => this.#remove(id, wait);
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
    if (waits.size === 0) this.#waits.delete(id);
  }
}
