import type { SeedReport } from "./seed-worker.ts";

/** The progress and the result of a run of many seeds, as text. */
export class Tally {
  readonly #total: number;
  readonly #again: string;
  readonly #failed: number[] = [];
  #done = 0;
  #grants = 0;
  #events = 0;
  #virtualMs = 0;

  /** `again`: the command that repeats a seed, without the seed. */
  constructor(total: number, again: string) {
    this.#total = total;
    this.#again = again;
  }

  get failures(): number {
    return this.#failed.length;
  }

  get done(): number {
    return this.#done;
  }

  add(report: SeedReport): void {
    this.#done += 1;
    if (!report.ok) {
      this.#failed.push(report.seed);
      return;
    }
    this.#grants += report.grants;
    this.#events += report.events;
    this.#virtualMs += report.virtualMs;
  }

  /** `1200/100000 seeds, 9.6/s, 2 h 51 min left, failed: 7 42` */
  progress(elapsedMs: number): string {
    const perSecond = this.#done / Math.max(elapsedMs / 1_000, 0.001);
    const left = this.#done === 0 ? "?" : inWords((this.#total - this.#done) / perSecond);
    const failed = this.#failed.length === 0 ? "none failed" : `failed: ${this.#failed.join(" ")}`;
    return `${this.#done}/${this.#total} seeds, ${perSecond.toFixed(1)}/s, ${left} left, ${failed}`;
  }

  summary(elapsedMs: number): string {
    const days = (this.#virtualMs / 86_400_000).toFixed(1);
    const lived = `${this.#grants} grants, ${this.#events} events, ${days} days`;
    const lines = [
      `${this.#done} of ${this.#total} seeds in ${inWords(elapsedMs / 1_000)}: ${lived}`,
      ...this.#failed.map((seed) => `  again: ${this.#again} ${seed}`),
      `${this.#done - this.#failed.length} passed, ${this.#failed.length} failed`,
    ];
    return lines.join("\n");
  }
}

/** `45 s`, `12 min`, `2 h 51 min` */
function inWords(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
