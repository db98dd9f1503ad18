import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import type { Journal, Recorded } from "../journal/journal.ts";
import type { BrokerListener } from "./broker-contract.ts";

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
  async pruneBehind(journal: Journal, before: Instant, isOpen: () => boolean): Promise<void> {
    if (this.#isPruning) {
      if (this.#isWaitingForListeners) this.failed("pruning the journal", notCaughtUp());
      return;
    }
    this.#isPruning = true;
    try {
      await this.#allCaughtUp();
      if (isOpen()) await journal.prune(before);
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
