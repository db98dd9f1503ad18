import { pausePerTtlMax } from "../core/apply/leases.ts";
import { ttlMsMin } from "../core/model/field-kinds.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { type Environment, StallWatch } from "./environment.ts";
import { ttlsIn } from "./ttls-in.ts";

/** Who gets a full ttl: everybody, or those for whom a pause of this length was long. */
export type Grace = { readonly pausedMs?: number };

/**
 * Notices that clients could not reach the broker for a while, so that this time expires no lease.
 * The broker gives the grace before its next decision.
 */
export class Pauses {
  readonly #stallWatch: StallWatch;
  #graceForAll = false;
  #pausedMs = 0;

  constructor(environment: Environment, stallMs: number, onPause: () => void) {
    this.#stallWatch = new StallWatch(environment, stallMs, (pausedMs) => {
      if (pausedMs > stallMs) this.#graceForAll = true;
      else this.#pausedMs = Math.max(this.#pausedMs, pausedMs);
      onPause();
    });
  }

  /** Everybody gets a full ttl before the next decision. */
  giveGraceToAll(): void {
    this.#graceForAll = true;
  }

  get isGraceForAllDue(): boolean {
    return this.#graceForAll;
  }

  /** The grace to give at `now`, once. */
  take(now: Instant): Grace | undefined {
    this.#stallWatch.check(now);
    const pausedMs = this.#pausedMs;
    const isForAll = this.#graceForAll;
    this.forget();
    if (isForAll) return {};
    return pausedMs > 0 ? { pausedMs } : undefined;
  }

  /** Everybody has got a full ttl. */
  forget(): void {
    this.#graceForAll = false;
    this.#pausedMs = 0;
  }

  /** A pause that is long for a ttl in this state, or for that of one request, must be noticed. */
  watchTtls(state: State, id?: RequestId): void {
    for (const ttlMs of ttlsIn(state, id)) {
      this.#stallWatch.lowerLimit(Math.floor(Math.max(ttlMs, ttlMsMin) * pausePerTtlMax));
    }
  }

  stop(): void {
    this.#stallWatch.stop();
  }
}
