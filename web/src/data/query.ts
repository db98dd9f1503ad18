/** Data of the server that views show: read at first use, and again when it may have changed. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { Problem } from "../../../src/api/problem.ts";
import { BerthUnreachable } from "../../../src/client/errors.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { keepSame } from "./keep-same.ts";
import { onEvents, unanswered } from "./live.ts";
import { ownPauseAfter, type Reader, Rounds } from "./rounds.ts";
import { Store } from "./store.ts";

export interface Answer<T> {
  readonly data: T | undefined;
  /** Why the last read failed; `data` is then the result of an earlier read. */
  readonly error: unknown;
}

export interface Question<T> {
  /** Queries with the same key share their result. */
  readonly key: string;
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** Whether an event may have changed the result; absent: none can. */
  readonly touchedBy?: (event: FeedEvent) => boolean;
  /**
   * Updates the data after these events, or returns undefined if all of it must be read. A list of
   * ten thousand is then not read again because of one change. The events are undefined if some may
   * have been missed.
   */
  readonly patch?: (
    before: T,
    events: readonly FeedEvent[] | undefined,
    signal: AbortSignal,
  ) => Promise<T> | undefined;
  /** The name or id of what is read. If there is no such thing, only events that name it count. */
  readonly subject?: string;
  /** Whether nothing can change after this error: it is not read again. */
  readonly isFinal?: (error: unknown) => boolean;
  /** The shortest pause between two reads, if it is longer than that of the rounds. */
  readonly pauseMs?: number;
  /** Reads it again at this interval, for changes without an event: heartbeats, charts. */
  readonly everyMs?: number | ((data: T | undefined) => number | undefined);
}

const retryMs = 3_000;
/** What is missing hardly ever comes without an event. */
const missingMs = 30_000;
/** After more events than this, they count as missed: to read everything is no more work by then. */
const patchedMax = 500;
/** Data is kept this long after its last use, so that the Back button shows it at once. */
const keptMs = 60_000;

const rounds = new Rounds();

class Query<T> implements Reader {
  readonly answer = new Store<Answer<T>>({ data: undefined, error: undefined });
  readonly #question: Question<T>;
  #viewers = 0;
  #reading = false;
  #stale = true;
  #isOver = false;
  /** The events since the last read; undefined: some may have been missed. */
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

  /** Reads it again, as if events had been missed: at once, or after the shortest pause. */
  refresh(): void {
    this.#since = undefined;
    this.#soon();
  }

  /** The server has said it in the answer to another call: it is shown at once, and read again. */
  learn(data: T): void {
    this.answer.set(keepSame(this.answer.get(), { data, error: undefined }));
    this.refresh();
  }

  #touched(events: readonly FeedEvent[]): void {
    this.#since?.push(...events);
    if ((this.#since?.length ?? 0) > patchedMax) this.#since = undefined;
    this.#soon();
  }

  #soon(): void {
    this.#stale = true;
    if (this.#viewers === 0 || this.#reading || this.#isOver || document.hidden) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#start(), Math.max(0, this.#nextAt - Date.now()));
  }

  /** What is not shown yet, and what no event changes, contradicts nothing: it does not wait for others. */
  #start(): void {
    const isApart = this.answer.get().data === undefined || this.#question.touchedBy === undefined;
    if (isApart) void this.read().then((show) => show());
    else rounds.join(this);
  }

  #wake(): void {
    this.#abort = new AbortController();
    this.#unlisten = onEvents((events) => {
      if (events === "everything") return this.refresh();
      const touching = events.filter((event) => this.#mayChangeIt(event));
      if (touching.length > 0) this.#touched(touching);
    });
    document.addEventListener("visibilitychange", this.#seen);
    this.refresh();
  }

  #mayChangeIt(event: FeedEvent): boolean {
    const { touchedBy, subject } = this.#question;
    if (touchedBy?.(event) !== true) return false;
    return subject === undefined || !isMissing(this.answer.get().error) || names(event, subject);
  }

  #sleep(): void {
    this.#unlisten?.();
    document.removeEventListener("visibilitychange", this.#seen);
    clearTimeout(this.#timer);
    rounds.leave(this);
    this.#abort.abort();
    this.#stale = true;
    this.#forget = setTimeout(() => queries.delete(this.#question.key), keptMs);
  }

  readonly #seen = () => {
    if (this.#stale) this.#soon();
  };

  #ask(before: T | undefined, since: readonly FeedEvent[] | undefined, signal: AbortSignal) {
    const { read, patch } = this.#question;
    const patched = before === undefined ? undefined : patch?.(before, since, signal);
    return patched ?? read(signal);
  }

  async read(): Promise<() => void> {
    const { signal } = this.#abort;
    this.#reading = true;
    this.#stale = false;
    const startedAt = Date.now();
    const since = this.#since;
    this.#since = [];
    const before = this.answer.get();
    let answer: Answer<T>;
    try {
      const data = keepSame(before.data, await this.#ask(before.data, since, signal));
      answer = keepSame(before, { data, error: undefined });
    } catch (error) {
      this.#since = undefined;
      answer = signal.aborted ? before : { ...before, error };
      if (error instanceof BerthUnreachable) void unanswered(error, startedAt);
      this.#isOver = !signal.aborted && this.#question.isFinal?.(error) === true;
    }
    const tookMs = Date.now() - startedAt;
    return () => {
      // Otherwise the answer to a change has said something newer.
      if (this.answer.get() === before) this.answer.set(answer);
      this.#reading = false;
      if (!signal.aborted || this.#viewers > 0) this.#readAgain(tookMs);
    };
  }

  #readAgain(tookMs: number): void {
    const { data, error } = this.answer.get();
    if (isOver(error)) return this.#unlisten?.();
    const { pauseMs = 0, everyMs } = this.#question;
    this.#nextAt = Date.now() + Math.max(pauseMs, ownPauseAfter(tookMs));
    if (this.#isOver) return;
    if (this.#stale) return this.#soon();
    const usualMs = typeof everyMs === "function" ? everyMs(data) : everyMs;
    const laterMs = error === undefined ? usualMs : isMissing(error) ? missingMs : retryMs;
    clearTimeout(this.#timer);
    if (laterMs !== undefined) this.#timer = setTimeout(() => this.refresh(), laterMs);
  }
}

/** What is gone for good is not read again, however many events there are. */
function isOver(error: unknown): boolean {
  return error instanceof Problem && error.status === 410;
}

function isMissing(error: unknown): boolean {
  return error instanceof Problem && error.status === 404;
}

function names(event: FeedEvent, subject: string): boolean {
  return JSON.stringify(event).includes(JSON.stringify(subject));
}

const queries = new Map<string, Query<unknown>>();

/** Returns the current result, and draws the component again when it changes. */
export function useAnswer<T>(question: Question<T>): Answer<T> & { refresh: () => void } {
  const query = queryOf(question);
  useEffect(() => query.view(), [query]);
  const { get, subscribe } = query.answer;
  const answer = useSyncExternalStore(subscribe, get);
  return useMemo(() => ({ ...answer, refresh: () => query.refresh() }), [answer, query]);
}

/** Shows what the answer to a change says, before the event of the change has come. */
export function learnAnswer<T>(question: Question<T>, data: T): void {
  (queries.get(question.key) as Query<T> | undefined)?.learn(data);
}

/** A key belongs to one question, so the query stored under it has the question's type. */
function queryOf<T>(question: Question<T>): Query<T> {
  let query = queries.get(question.key) as Query<T> | undefined;
  if (query === undefined) {
    query = new Query(question);
    queries.set(question.key, query as Query<unknown>);
  }
  return query;
}
