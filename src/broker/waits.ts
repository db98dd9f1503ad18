import type { RequestId } from "../core/ids.ts";

/** Who listens on an open connection for the fate of which request. */
export class Waits {
  readonly #listeners = new Map<RequestId, Set<() => void>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Resolves when the request's fate is told, when time is up, or when the signal aborts. */
  wait(id: RequestId, waitMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        this.#remove(id, end);
        resolve();
      };
      const timer = setTimeout(end, waitMs);
      signal?.addEventListener("abort", end);
      this.#add(id, end);
    });
  }

  tell(id: RequestId): void {
    const listeners = this.#listeners.get(id);
    if (listeners === undefined) return;
    for (const listener of [...listeners]) listener();
  }

  /** Everybody is answered at once: the broker stops. */
  tellAll(): void {
    for (const id of [...this.#listeners.keys()]) this.tell(id);
  }

  #add(id: RequestId, listener: () => void): void {
    const listeners = this.#listeners.get(id);
    if (listeners === undefined) this.#listeners.set(id, new Set([listener]));
    else listeners.add(listener);
    this.#size += 1;
  }

  #remove(id: RequestId, listener: () => void): void {
    const listeners = this.#listeners.get(id);
    if (!listeners?.delete(listener)) return;
    this.#size -= 1;
    if (listeners.size === 0) this.#listeners.delete(id);
  }
}
