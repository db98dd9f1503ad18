import type { KeepAliveOptions } from "../../client/keep-alive.ts";
import { roughDuration } from "../../core/model/time.ts";
import { plain } from "../terminal/text.ts";

const lineMsMin = 60_000;

/** Logs failed heartbeats: the first one at once, then one line per minute, then the recovery. */
export class HeartbeatLog {
  readonly #note: (text: string) => void;
  readonly #ttlMs: number;
  #loggedAtMs: number | undefined;

  constructor(note: (text: string) => void, ttlMs: number) {
    this.#note = note;
    this.#ttlMs = ttlMs;
  }

  get listeners(): Pick<KeepAliveOptions, "onHeartbeatFailed" | "onRecovered"> {
    return {
      onHeartbeatFailed: (error: unknown, sinceMs: number) => this.#failed(error, sinceMs),
      onRecovered: () => this.#recovered(),
    };
  }

  #failed(error: unknown, sinceMs: number): void {
    const nowMs = performance.now();
    if (this.#loggedAtMs !== undefined && nowMs - this.#loggedAtMs < lineMsMin) return;
    this.#loggedAtMs = nowMs;
    const why = plain(error instanceof Error ? error.message : String(error));
    const left = roughDuration(this.#ttlMs - sinceMs);
    this.#note(`berth: ${why}; retrying, the lease expires in ${left} without a heartbeat`);
  }

  #recovered(): void {
    if (this.#loggedAtMs !== undefined) this.#note("berth: Heartbeats work again");
    this.#loggedAtMs = undefined;
  }
}
