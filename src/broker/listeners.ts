import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded } from "../journal/journal.ts";
import type { BrokerListener } from "./broker-contract.ts";

/** All that follow a broker. One that throws harms nobody else. */
export class Listeners {
  readonly #listeners = new Set<BrokerListener>();
  #pruning = false;

  add(listener: BrokerListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  committed(recorded: Recorded, state: State): void {
    for (const listener of this.#listeners) {
      try {
        listener.committed?.(recorded, state);
      } catch (cause) {
        this.failed("a follower of the journal", cause);
      }
    }
  }

  writable(cause: Error | null): void {
    for (const listener of this.#listeners) listener.writable?.(cause);
  }

  fatal(cause: Error): void {
    for (const listener of this.#listeners) listener.fatal?.(cause);
  }

  failed(what: string, cause: unknown): void {
    for (const listener of this.#listeners) listener.failed?.(what, cause);
  }

  /**
   * Prunes the journal behind those who follow it, and beside the commits, which have their turn in
   * between. What is not pruned now is pruned the next time.
   */
  async pruneBehind(journal: Journal, before: Instant, isOpen: () => boolean): Promise<void> {
    if (this.#pruning) return;
    this.#pruning = true;
    try {
      await Promise.all(Array.from(this.#listeners, (listener) => listener.caughtUp?.()));
      if (isOpen()) await journal.prune(before);
    } catch (cause) {
      this.failed("pruning the journal", cause);
    }
    this.#pruning = false;
  }
}
