/**
 * Says when the machine is too slow for the demo. Jobs then start and end late, which no estimate can
 * foresee, so the figures of the page are worse than those of a real server.
 */

/** On a machine that keeps up, jobs act within a few milliseconds of their time. */
const lateMsMax = 750;
/** Of all jobs that were due. */
const leftOutShareMax = 0.02;
/** With a day this long, nearly every machine keeps up. */
const slowDayMs = 3_600_000;

export class BusyMachine {
  readonly #dayMs: number;
  #acts = 0;
  #late = 0;
  #leftOut = 0;
  #wasBusy = false;

  constructor(dayMs: number) {
    this.#dayMs = dayMs;
  }

  /** A job acted this long after its time. */
  acted(lateMs: number): void {
    this.#acts += 1;
    if (lateMs > lateMsMax) this.#late += 1;
  }

  /** A job was not started, because the server does not keep up. */
  leftOut(): void {
    this.#leftOut += 1;
  }

  /** What to tell since the last call; undefined: nothing new. */
  report(): string | undefined {
    const due = this.#acts + this.#leftOut;
    const late = this.#late / Math.max(1, due);
    const isBusy = due > 0 && (late > 0.1 || this.#leftOut / due > leftOutShareMax);
    const began = isBusy && !this.#wasBusy;
    const ended = !isBusy && this.#wasBusy && due > 0;
    if (due > 0) this.#wasBusy = isBusy;
    const percent = (share: number) => `${Math.round(100 * share)} %`;
    const what = `${percent(late)} of the jobs act late, ${this.#leftOut} were left out`;
    this.#acts = 0;
    this.#late = 0;
    this.#leftOut = 0;
    if (ended) return "The machine keeps up again.";
    if (!began) return undefined;
    const advice =
      this.#dayMs < slowDayMs
        ? "A slower day helps: npm run demo -- --day 1h"
        : "Fewer pools help: npm run demo -- --pools 60";
    return `This machine is too busy for so many jobs: ${what}.
  Until it keeps up, expect estimates that are off. ${advice}`;
  }
}
