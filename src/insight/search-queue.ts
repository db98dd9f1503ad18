import { StatsWorkerBusy } from "./stats-worker.ts";

/** More searches than this do not wait. */
const waitingMax = 64;

/** Runs searches one after the other, so that many of them do not take the thread from others. */
export class SearchQueue {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Rejects with `StatsWorkerBusy` if too many wait. An aborted one that has not begun never does. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (this.#waiting >= waitingMax) {
      throw new StatsWorkerBusy(`Cannot search: ${waitingMax} searches are already queued`);
    }
    this.#waiting += 1;
    const result = this.#last.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    this.#last = result
      .catch(() => {})
      .finally(() => {
        this.#waiting -= 1;
      });
    return await result;
  }
}
