/** What a view shows of the server: read when it is first looked at, and again when it may have changed. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { keepSame } from "./keep-same.ts";
import { onEvents } from "./live.ts";
import { Store } from "./store.ts";

export interface Answer<T> {
  readonly data: T | undefined;
  /** Why the last reading failed; the data are then older. */
  readonly error: unknown;
}

export interface Question<T> {
  /** Questions with the same key share their answer. */
  readonly key: string;
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** Whether an event may have changed the answer. */
  readonly touchedBy: (event: FeedEvent) => boolean;
  /**
   * The answer with what these events changed read anew; undefined: all of it must be read. Saves a
   * list of ten thousand from being read again for one of them.
   */
  readonly mend?: (
    before: T,
    events: readonly FeedEvent[],
    signal: AbortSignal,
  ) => Promise<T> | undefined;
  /** Also so often, for what no event tells: heartbeats, charts. */
  readonly everyMs?: number;
}

/** Never more often than this, and what takes long is read less often still. */
const pauseMsMin = 500;
const pausePerDuration = 4;
const retryMs = 3_000;
/** After more events than this, all is read again: it is no more work by then. */
const mendedMax = 500;
/** Kept for so long after the last look: the way back shows it at once. */
const keptMs = 60_000;

class Query<T> {
  readonly answer = new Store<Answer<T>>({ data: undefined, error: undefined });
  readonly #question: Question<T>;
  #viewers = 0;
  #reading = false;
  #stale = true;
  /** What has happened since the last reading; undefined: anything may have. */
  #since: FeedEvent[] | undefined;
  #nextAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #unlisten: (() => void) | undefined;
  #abort = new AbortController();
  #forget: ReturnType<typeof setTimeout> | undefined;

  constructor(question: Question<T>) {
    this.#question = question;
  }

  view(): () => void {
    clearTimeout(this.#forget);
    if (this.#viewers++ === 0) this.#wake();
    return () => {
      if (--this.#viewers === 0) this.#sleep();
    };
  }

  /** Reads it again soon, all of it: at once if it was not read a moment ago. */
  refresh(): void {
    this.#since = undefined;
    this.#soon();
  }

  #touched(events: readonly FeedEvent[]): void {
    this.#since?.push(...events);
    if ((this.#since?.length ?? 0) > mendedMax) this.#since = undefined;
    this.#soon();
  }

  #soon(): void {
    this.#stale = true;
    if (this.#viewers === 0 || this.#reading || document.hidden) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), Math.max(0, this.#nextAt - Date.now()));
  }

  #wake(): void {
    this.#abort = new AbortController();
    const { touchedBy } = this.#question;
    this.#unlisten = onEvents((events) => {
      if (events === "everything") return this.refresh();
      const touching = events.filter(touchedBy);
      if (touching.length > 0) this.#touched(touching);
    });
    document.addEventListener("visibilitychange", this.#seen);
    this.refresh();
  }

  #sleep(): void {
    this.#unlisten?.();
    document.removeEventListener("visibilitychange", this.#seen);
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#stale = true;
    this.#forget = setTimeout(() => queries.delete(this.#question.key), keptMs);
  }

  readonly #seen = () => {
    if (this.#stale) this.#soon();
  };

  #ask(before: T | undefined, since: readonly FeedEvent[] | undefined, signal: AbortSignal) {
    const { read, mend } = this.#question;
    const canMend = before !== undefined && since !== undefined;
    return (canMend ? mend?.(before, since, signal) : undefined) ?? read(signal);
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort;
    const { everyMs } = this.#question;
    this.#reading = true;
    this.#stale = false;
    const startedAt = Date.now();
    let failed = false;
    const since = this.#since;
    this.#since = [];
    try {
      const before = this.answer.get().data;
      const data = keepSame(before, await this.#ask(before, since, signal));
      this.answer.set(keepSame(this.answer.get(), { data, error: undefined }));
    } catch (error) {
      failed = true;
      this.#since = undefined;
      if (!signal.aborted) this.answer.set({ ...this.answer.get(), error });
    }
    this.#reading = false;
    if (signal.aborted && this.#viewers === 0) return;
    const tookMs = Date.now() - startedAt;
    this.#nextAt = Date.now() + Math.max(pauseMsMin, tookMs * pausePerDuration);
    if (this.#stale) return this.#soon();
    const laterMs = failed ? retryMs : everyMs;
    clearTimeout(this.#timer);
    if (laterMs !== undefined) this.#timer = setTimeout(() => this.refresh(), laterMs);
  }
}

const queries = new Map<string, Query<unknown>>();

/** The answer as it is known now, and from then on as it changes. */
export function useAnswer<T>(question: Question<T>): Answer<T> & { refresh: () => void } {
  const query = queryOf(question);
  useEffect(() => query.view(), [query]);
  const { get, subscribe } = query.answer;
  const answer = useSyncExternalStore(subscribe, get);
  return useMemo(() => ({ ...answer, refresh: () => query.refresh() }), [answer, query]);
}

/** A key is minted with its question, so that what is kept under it has the question's type. */
function queryOf<T>(question: Question<T>): Query<T> {
  let query = queries.get(question.key) as Query<T> | undefined;
  if (query === undefined) {
    query = new Query(question);
    queries.set(question.key, query as Query<unknown>);
  }
  return query;
}
