import type { RequestId } from "../core/model/ids.ts";
import type { Instant } from "../core/model/time.ts";

export interface Listener {
  readonly until: Instant;
  /** The one who asked, not an onlooker: it counts as present for as long as it listens. */
  readonly present: boolean;
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

  /** Until when the one who asked listens at the latest; undefined if it does not. */
  presentUntil(id: RequestId): Instant | undefined {
    let latest: Instant | undefined;
    for (const { until, present } of this.#listeners.get(id) ?? []) {
      if (present && (latest === undefined || until > latest)) latest = until;
    }
    return latest;
  }

  /** Returns how to stop listening, which is fine to do twice. */
  add(id: RequestId, listener: Listener): () => void {
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
