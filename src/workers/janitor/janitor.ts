/**
 * Cleans what comes back dirty. It is a client like any other: it takes one dirty resource after the
 * other with a lease of its own and keeps it alive, so a janitor that dies is reaped like a job that
 * dies. Pools take turns, so one whose cleaning is slow or fails does not hold up the others.
 */

import { LinkedAbort } from "../../client/linked-abort.ts";
import { dirtyState } from "../../core/model/lifecycle.ts";
import { type Cleaned, type CleaningSpec, clean, type Soiled } from "./cleaner.ts";

/** A dirty resource that is ours to clean. */
export interface Task extends Soiled {
  /** Aborts when it is ours no longer. */
  readonly lost: AbortSignal;
  /** Stops keeping it alive, and gives it back. Never rejects. */
  finish(cleaned: Cleaned): Promise<void>;
}

/** How to give back what was cleaned, or was to be. */
export function returnOf(cleaned: Cleaned): { state?: string; failure?: string } {
  switch (cleaned.how) {
    case "clean":
      return {};
    case "failed":
      return { failure: cleaned.output };
    case "stopped":
      return { state: dirtyState };
  }
}

/** Where the work comes from: a broker in this process, or a server elsewhere. */
export interface DirtyWork {
  /** One dirty resource of the pool, if there is one now. */
  take(pool: string): Promise<Task | undefined>;
  /** Resolves when there may be new work. */
  untilDirty(signal: AbortSignal): Promise<void>;
}

export interface JanitorNews {
  started?(soiled: Soiled): void;
  ended?(soiled: Soiled, cleaned: Cleaned, durationMs: number): void;
  /** Taking work failed; it is tried again. */
  trouble?(cause: unknown): void;
}

/** Commands that run at once, over all pools. */
export const parallelDefault = 8;

export class Janitor {
  readonly #work: DirtyWork;
  readonly #news: JanitorNews;
  readonly #parallel: number;
  readonly #stop = new AbortController();
  readonly #running = new Map<Promise<void>, string>();
  #specs: readonly CleaningSpec[];
  #next = 0;
  #wake = Promise.withResolvers<void>();
  readonly #done: Promise<void>;

  constructor(
    work: DirtyWork,
    specs: readonly CleaningSpec[],
    options: JanitorNews & { readonly parallel?: number } = {},
  ) {
    this.#work = work;
    this.#specs = specs;
    this.#news = options;
    this.#parallel = options.parallel ?? parallelDefault;
    this.#done = this.#loop();
  }

  /** What is under way ends under the old rules. */
  configure(specs: readonly CleaningSpec[]): void {
    this.#specs = specs;
    this.#wake.resolve();
  }

  /** Breaks off what is under way, and gives it back as dirty as it was. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#done;
    await Promise.all(this.#running.keys());
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const dirty = this.#work.untilDirty(signal);
      try {
        while (await this.#startOne());
      } catch (cause) {
        this.#news.trouble?.(cause);
      }
      await Promise.race([dirty, this.#wake.promise]);
    }
  }

  /** Starts on the first pool, in turn, that has work and room. False: there is none. */
  async #startOne(): Promise<boolean> {
    const specs = this.#specs;
    for (let step = 0; step < specs.length; step++) {
      if (this.#running.size >= this.#parallel || this.#stop.signal.aborted) return false;
      const index = (this.#next + step) % specs.length;
      const spec = specs[index];
      if (spec === undefined || this.#runningIn(spec.pool) >= spec.parallel) continue;
      const task = await this.#work.take(spec.pool);
      if (task === undefined) continue;
      this.#next = index + 1;
      this.#start(spec, task);
      return true;
    }
    return false;
  }

  #runningIn(pool: string): number {
    let count = 0;
    for (const other of this.#running.values()) if (other === pool) count += 1;
    return count;
  }

  #start(spec: CleaningSpec, task: Task): void {
    const running = this.#run(spec, task).finally(() => {
      this.#running.delete(running);
      this.#wake.resolve();
    });
    this.#running.set(running, spec.pool);
  }

  async #run(spec: CleaningSpec, task: Task): Promise<void> {
    this.#news.started?.(task);
    const startedAt = performance.now();
    const stop = new LinkedAbort(this.#stop.signal, task.lost);
    const cleaned = await clean(spec, task, stop.signal).finally(() => stop.letGo());
    await task.finish(cleaned);
    this.#news.ended?.(task, cleaned, performance.now() - startedAt);
  }
}
