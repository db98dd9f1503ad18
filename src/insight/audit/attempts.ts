/**
 * Refused attempts for the audit. Anybody on the network can make them, so they are bounded: the same
 * attempt counts once a minute, and of all others only some are recorded; the next one that is says
 * how many were left out.
 */
import type { AuditFacts } from "./entry.ts";

export interface AttemptLimits {
  /** How many may be recorded at once. */
  readonly burst: number;
  readonly perMinute: number;
}

export const attemptLimits: AttemptLimits = { burst: 100, perMinute: 10 };

const minuteMs = 60_000;

export class Attempts {
  readonly #limits: AttemptLimits;
  readonly #seenAtMs = new Map<string, number>();
  #tokens: number;
  #filledAtMs = 0;
  #omitted = 0;

  constructor(limits: AttemptLimits = attemptLimits) {
    this.#limits = limits;
    this.#tokens = limits.burst;
  }

  /** Returns what to record; undefined if it is a repetition, or too much. */
  add(facts: AuditFacts, nowMs: number): AuditFacts | undefined {
    this.#fill(nowMs);
    const key = JSON.stringify(facts);
    const seenAtMs = this.#seenAtMs.get(key);
    if ((seenAtMs !== undefined && nowMs - seenAtMs < minuteMs) || this.#tokens < 1) {
      this.#omitted += 1;
      return undefined;
    }
    this.#tokens -= 1;
    this.#remember(key, nowMs);
    if (this.#omitted === 0) return facts;
    const omitted = this.#omitted;
    this.#omitted = 0;
    return { ...facts, detail: { ...facts.detail, omittedBefore: omitted } };
  }

  #fill(nowMs: number): void {
    const { burst, perMinute } = this.#limits;
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#tokens = Math.min(burst, this.#tokens + (passedMs * perMinute) / minuteMs);
    this.#filledAtMs = nowMs;
  }

  /** No more keys than may be recorded in a burst. */
  #remember(key: string, nowMs: number): void {
    this.#seenAtMs.delete(key);
    const [oldest] = this.#seenAtMs.keys();
    if (this.#seenAtMs.size >= this.#limits.burst && oldest !== undefined) {
      this.#seenAtMs.delete(oldest);
    }
    this.#seenAtMs.set(key, nowMs);
  }
}
