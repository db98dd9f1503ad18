import { roughDuration } from "../../core/model/duration.ts";
import { plain } from "../terminal/text.ts";

const lineMsMin = 60_000;

/** Tells of heartbeats that do not get through: at once, then once a minute, and when it is over. */
export class HeartbeatLog {
  readonly #note: (text: string) => void;
  readonly #ttlMs: number;
  #toldAtMs: number | undefined;

  constructor(note: (text: string) => void, ttlMs: number) {
    this.#note = note;
    this.#ttlMs = ttlMs;
  }

  get listeners() {
    return {
      onSilence: (error: unknown, silentMs: number) => this.#silent(error, silentMs),
      onRecovered: () => this.#recovered(),
    };
  }

  #silent(error: unknown, silentMs: number): void {
    const nowMs = performance.now();
    if (this.#toldAtMs !== undefined && nowMs - this.#toldAtMs < lineMsMin) return;
    this.#toldAtMs = nowMs;
    const why = plain(error instanceof Error ? error.message : String(error));
    const left = roughDuration(this.#ttlMs - silentMs);
    this.#note(`berth: ${why}; trying again, the lease lasts ${left} without it`);
  }

  #recovered(): void {
    if (this.#toldAtMs !== undefined) this.#note("berth: Heartbeats get through again");
    this.#toldAtMs = undefined;
  }
}
