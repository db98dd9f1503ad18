import type { Journal } from "../../journal/journal.ts";
import type { Followed } from "../follow/journal-follower.ts";
import { type FollowerOptions, HistoryFollower } from "./follower.ts";
import { HistoryReader } from "./reader.ts";
import { RunRecord } from "./run-record.ts";
import type { HistoryStore } from "./store.ts";

/** The history exists but is not readable at present. Grants are not affected. */
export class HistoryUnavailable extends Error {
  override readonly name = "HistoryUnavailable";
}

export interface HistoryOptions extends Partial<FollowerOptions> {
  /** The interval at which opening the history is tried again. */
  readonly retryMs?: number;
  /** Called once the history is open. */
  readonly opened?: (reader: HistoryReader) => void;
}

interface OpenHistory {
  readonly follower: HistoryFollower;
  readonly reader: HistoryReader;
  readonly record: RunRecord;
}

const defaultRetryMs = 30_000;

/**
 * The history of a server. Grants do not depend on it: if its file cannot be opened, it tries again
 * by itself. Until then, queries are rejected, and the journal keeps the events that history has
 * not processed.
 */
export class History {
  readonly #open: () => HistoryStore;
  readonly #journal: Pick<Journal, "read" | "loadSnapshot">;
  readonly #followed: Followed;
  readonly #options: HistoryOptions;
  readonly #opened = Promise.withResolvers<HistoryFollower>();
  #state: OpenHistory | Error;
  #stopListening = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(
    open: () => HistoryStore,
    journal: Pick<Journal, "read" | "loadSnapshot">,
    followed: Followed,
    options: HistoryOptions = {},
  ) {
    this.#open = open;
    this.#journal = journal;
    this.#followed = followed;
    this.#options = options;
    this.#state = this.#tryToOpen();
    if (!(this.#state instanceof Error)) return;
    options.failed?.(this.#state);
    this.#stopListening = followed.listen({
      committed: () => {},
      caughtUp: async () => (await this.#opened.promise).onDisk(),
    });
    this.#retryLater();
  }

  /** The number of events that are not processed yet. */
  get lag(): number {
    return this.#state instanceof Error ? this.#followed.head : this.#state.follower.lag;
  }

  /** Throws `HistoryUnavailable` while the history is not open. */
  get reader(): HistoryReader {
    if (!(this.#state instanceof Error)) return this.#state.reader;
    throw new HistoryUnavailable(this.#state.message, { cause: this.#state });
  }

  /** Throws `HistoryUnavailable` while the history is not open. */
  mustBeOpen(): void {
    void this.reader;
  }

  /** Resolves once history contains every event that is committed now. */
  async caughtUp(): Promise<void> {
    await (await this.#opened.promise).caughtUp();
  }

  /** Tells whether the journal can be written, for the charts. */
  noteJournal(isWritable: boolean): void {
    if (!(this.#state instanceof Error)) this.#state.record.journal(isWritable);
  }

  async close(): Promise<void> {
    this.#stopListening();
    clearTimeout(this.#timer);
    if (this.#state instanceof Error) return;
    this.#state.record.close();
    await this.#state.follower.close();
  }

  #tryToOpen(): OpenHistory | Error {
    let store: HistoryStore | undefined;
    try {
      store = this.#open();
      const reader = new HistoryReader(store.database);
      this.#options.opened?.(reader);
      const follower = new HistoryFollower(store, this.#journal, this.#followed, this.#options);
      const record = new RunRecord(store, () => this.#followed.now());
      this.#opened.resolve(follower);
      return { follower, reader, record };
    } catch (cause) {
      store?.close();
      return cause instanceof Error ? cause : new Error(String(cause));
    }
  }

  #retryLater(): void {
    this.#timer = setTimeout(() => {
      this.#state = this.#tryToOpen();
      if (this.#state instanceof Error) this.#retryLater();
      else this.#stopListening();
    }, this.#options.retryMs ?? defaultRetryMs).unref();
  }
}
