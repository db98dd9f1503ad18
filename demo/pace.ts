/** The first pause of all new jobs after a call that failed. Each further one is twice as long. */
const pauseMsMin = 500;
const pauseMsMax = 30_000;

/** A server that does not keep up gets fewer jobs, as a CI system would give it. */
export class Pace {
  #pauseMs = 0;
  #quietUntil = 0;

  /** Whether a new job may begin; those that may not are left out. */
  mayAsk(now: number): boolean {
    return now >= this.#quietUntil;
  }

  failed(now: number): void {
    if (now < this.#quietUntil) return; // Many jobs fail at the same time.
    this.#pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, this.#pauseMs * 2));
    this.#quietUntil = now + this.#pauseMs;
  }

  worked(): void {
    this.#pauseMs = Math.floor(this.#pauseMs / 2);
  }
}
