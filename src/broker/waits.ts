import type { RequestId } from "../core/model/ids.ts";
import type { Instant } from "../core/model/time.ts";

export interface Listener {
  readonly until: Instant;
  /** It is the client that asked, not an onlooker: the request stays alive while it listens. */
  readonly present: boolean;
  readonly end: () => void;
}

/** The open connections that wait for a request to be granted or to end. */
export class Waits {
  readonly #listeners = new Map<RequestId, Set<Listener>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: RequestId): boolean {
    return this.#listeners.has(id);
  }

  /** Until when the client that asked listens at the latest; undefined if it does not. */
  presentUntil(id: RequestId): Instant | undefined {
    let latest: Instant | undefined;
    for (const { until, present } of this.#listeners.get(id) ?? []) {
      if (present && (latest === undefined || until > latest)) latest = until;
    }
    return latest;
  }

  /** Returns how to stop listening, which is safe to do twice. */
  add(id: RequestId, listener: Listener): () => void {
    const listeners = this.#listeners.get(id);
    if (listeners === undefined) this.#listeners.set(id, new Set([listener]));
    else listeners.add(listener);
    this.#size += 1;
    return () => this.#remove(id, listener);
  }

  end(id: RequestId): void {
    for (const { end } of [...(this.#listeners.get(id) ?? [])]) end();
  }

  endAll(): void {
    for (const id of [...this.#listeners.keys()]) this.end(id);
  }

  ids(): Iterable<RequestId> {
    return this.#listeners.keys();
  }

  #remove(id: RequestId, listener: Listener): void {
    const listeners = this.#listeners.get(id);
    if (!listeners?.delete(listener)) return;
    this.#size -= 1;
    if (listeners.size === 0) this.#listeners.delete(id);
  }
}
