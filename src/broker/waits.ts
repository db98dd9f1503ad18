import type { RequestId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";

interface Listener {
  readonly until: Instant;
  readonly end: () => void;
}

/** Who listens on an open connection for the fate of which request. */
export class Waits {
  readonly #listeners = new Map<RequestId, Set<Listener>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: RequestId): boolean {
    return this.#listeners.has(id);
  }

  /** Returns how to stop listening, which is fine to do twice. */
  add(id: RequestId, until: Instant, end: () => void): () => void {
    const listener = { until, end };
    const listeners = this.#listeners.get(id);
    if (listeners === undefined) this.#listeners.set(id, new Set([listener]));
    else listeners.add(listener);
    this.#size += 1;
    return () => this.#remove(id, listener);
  }

  tell(id: RequestId): void {
    for (const { end } of [...(this.#listeners.get(id) ?? [])]) end();
  }

  tellAll(): void {
    for (const id of [...this.#listeners.keys()]) this.tell(id);
  }

  /** Everybody who is listened for, and until when at the latest. */
  *open(): Generator<{ readonly id: RequestId; readonly until: Instant }, void, undefined> {
    for (const [id, listeners] of this.#listeners) {
      const until = Math.max(...Array.from(listeners, (listener) => listener.until)) as Instant;
      yield { id, until };
    }
  }

  #remove(id: RequestId, listener: Listener): void {
    const listeners = this.#listeners.get(id);
    if (!listeners?.delete(listener)) return;
    this.#size -= 1;
    if (listeners.size === 0) this.#listeners.delete(id);
  }
}
