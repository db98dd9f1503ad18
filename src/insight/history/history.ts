import type { Journal } from "../../journal/journal.ts";
import type { Followed } from "../follow/journal-follower.ts";
import { OpenWithRetries, type RetryOptions } from "../follow/open-with-retries.ts";
import { type FollowerOptions, HistoryFollower } from "./follower.ts";
import { HistoryReader } from "./reader.ts";
import { RunRecord } from "./run-record.ts";
import type { HistoryStore } from "./store.ts";

/** The history exists but is not readable at present. Grants are not affected. */
export class HistoryUnavailable extends Error {
  override readonly name = "HistoryUnavailable";
}

export interface HistoryOptions extends Partial<FollowerOptions>, Pick<RetryOptions, "retryMs"> {
  /** Called once the history is open. */
  readonly opened?: (reader: HistoryReader) => void;
}

interface OpenHistory {
  readonly follower: HistoryFollower;
  readonly reader: HistoryReader;
  readonly record: RunRecord;
}

/** The history of a server. While it is not open, queries are rejected. */
export class History {
  readonly #file: OpenWithRetries<OpenHistory>;

  constructor(
    open: () => HistoryStore,
    journal: Pick<Journal, "read" | "loadSnapshot">,
    followed: Followed,
    options: HistoryOptions = {},
  ) {
    const openFile = (): OpenHistory => {
      const store = open();
      try {
        const reader = new HistoryReader(store.database);
        options.opened?.(reader);
        const follower = new HistoryFollower(store, journal, followed, options);
        return { follower, reader, record: new RunRecord(store, () => followed.now()) };
      } catch (error) {
        store.close();
        throw error;
      }
    };
    this.#file = new OpenWithRetries(openFile, followed, options);
  }

  /** The number of events that are not processed yet. */
  get lag(): number {
    return this.#file.lag;
  }

  /** Throws `HistoryUnavailable` while the history is not open. */
  get reader(): HistoryReader {
    const { state } = this.#file;
    if (!(state instanceof Error)) return state.reader;
    throw new HistoryUnavailable(state.message, { cause: state });
  }

  /** Throws `HistoryUnavailable` while the history is not open. */
  mustBeOpen(): void {
    void this.reader;
  }

  /** Resolves once history contains every event that is committed now. */
  async caughtUp(): Promise<void> {
    await (await this.#file.whenOpen).follower.caughtUp();
  }

  /** Tells whether the journal can be written, for the charts. */
  noteJournal(isWritable: boolean): void {
    const { state } = this.#file;
    if (!(state instanceof Error)) state.record.journal(isWritable);
  }

  async close(): Promise<void> {
    const open = this.#file.stop();
    open?.record.close();
    await open?.follower.close();
  }
}
