import type { HistoryStore } from "./store.ts";

/** How exactly the end of a server that was killed is known. */
const everyMs = 10_000;

/**
 * Records when the server ran and when its journal could not be written, so that charts can show it.
 * If the history cannot be written either, this is not recorded; its follower reports that.
 */
export class RunRecord {
  readonly #store: HistoryStore;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #journalLostAt: number | undefined;

  constructor(store: HistoryStore, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#try(() => store.runBegan(now()));
    this.#timer = setInterval(() => this.#try(() => store.runSeen(now())), everyMs).unref();
  }

  journal(isWritable: boolean): void {
    const from = this.#journalLostAt;
    if (!isWritable) this.#journalLostAt ??= this.#now();
    else if (from !== undefined) {
      this.#journalLostAt = undefined;
      this.#try(() =>
        this.#store.addOutage({ what: "journal", name: null, from, to: this.#now() }),
      );
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#try(() => this.#store.runSeen(this.#now()));
  }

  #try(write: () => void): void {
    try {
      write();
    } catch {
      // The charts have one mark less.
    }
  }
}
