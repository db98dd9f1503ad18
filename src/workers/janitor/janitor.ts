/**
 * Cleans dirty resources. The janitor is an ordinary client: it acquires one dirty resource after
 * the other with a lease and sends heartbeats, so the lease of a janitor that dies expires like any
 * other. Pools take turns, so a pool whose cleaning is slow or fails does not delay the others.
 */

import { LinkedAbort } from "../../client/linked-abort.ts";
import { dirtyState } from "../../core/model/lifecycle.ts";
import { type CleaningResult, type CleaningSpec, clean, type DirtyResource } from "./cleaner.ts";

/** A dirty resource that this janitor has leased. */
export interface Task extends DirtyResource {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** Stops the heartbeats and releases the lease. Never rejects. */
  finish(result: CleaningResult): Promise<void>;
}

/** How to release a resource after its cleaning command. */
export function releaseOptions(result: CleaningResult): { state?: string; failure?: string } {
  switch (result.how) {
    case "clean":
      return {};
    case "failed":
      return { failure: result.output };
    case "stopped":
      return { state: dirtyState };
  }
}

/** The source of dirty resources: the broker in this process, or another server. */
export interface DirtyWork {
  /** Leases one dirty resource of the pool, or returns undefined if there is none. */
  take(pool: string): Promise<Task | undefined>;
  /** Resolves when there may be dirty resources. */
  waitForDirty(signal: AbortSignal): Promise<void>;
}

export interface JanitorListener {
  started?(dirty: DirtyResource): void;
  finished?(dirty: DirtyResource, result: CleaningResult, durationMs: number): void;
  /** Called when a dirty resource could not be leased. The janitor tries again. */
  retrying?(cause: unknown): void;
}

/** How many commands run at once, over all pools. */
export const parallelDefault = 8;

export class Janitor {
  readonly #work: DirtyWork;
  readonly #listener: JanitorListener;
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
    options: JanitorListener & { readonly parallel?: number } = {},
  ) {
    this.#work = work;
    this.#specs = specs;
    this.#listener = options;
    this.#parallel = options.parallel ?? parallelDefault;
    this.#done = this.#loop();
  }

  /** Running commands finish with the old settings. */
  configure(specs: readonly CleaningSpec[]): void {
    this.#specs = specs;
    this.#wake.resolve();
  }

  /** Stops the running commands and releases their resources, which stay dirty. */
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
      const dirty = this.#work.waitForDirty(signal);
      try {
        while (await this.#startOne());
      } catch (cause) {
        this.#listener.retrying?.(cause);
      }
      await Promise.race([dirty, this.#wake.promise]);
    }
  }

  /**
   * Starts a command for the first pool, in turn, that has a dirty resource and allows one more
   * command. Returns false if there is none.
   */
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
    this.#listener.started?.(task);
    const startedAt = performance.now();
    const stop = new LinkedAbort(this.#stop.signal, task.lost);
    const result = await clean(spec, task, stop.signal)
      .catch(janitorFailed)
      .finally(() => stop.unlink());
    await task.finish(result);
    this.#listener.finished?.(task, result, performance.now() - startedAt);
  }
}

/** A bug while one resource is cleaned must not stop the server. The error may contain a secret. */
function janitorFailed(error: unknown): CleaningResult {
  const name = error instanceof Error ? error.name : typeof error;
  return { how: "failed", output: `The janitor failed with a bug: ${name}` };
}
