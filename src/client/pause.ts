import { Problem } from "../api/problem.ts";
import { BerthUnreachable } from "./errors.ts";
import { clientLimits } from "./limits.ts";

/** Resolves after the time, or rejects with the signal's reason at once. */
export function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(end, durationMs);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * How long to stay away after so many failures in a row. Half of it is chance: after a restart all
 * clients come back, and not in one wave.
 */
export function pauseMs(failures: number, chance: number = Math.random()): number {
  const { pauseMsMin, pauseMsMax } = clientLimits;
  const full = Math.min(pauseMsMax, pauseMsMin * 2 ** Math.min(failures, 16));
  return Math.round(full * (0.5 + chance / 2));
}

/** True for what passes by itself: no answer, or a server or proxy that says "not now". */
export function isTemporary(error: unknown): error is BerthUnreachable | Problem {
  if (error instanceof BerthUnreachable) return true;
  return error instanceof Problem && [429, 502, 503, 504].includes(error.status);
}

export interface RetryOptions {
  /** From the first failure on; the error of the last try is thrown when it is over. */
  readonly forMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Told before each pause, so that somebody who watches knows why nothing happens. */
  readonly onTrouble?: ((error: BerthUnreachable | Problem) => void) | undefined;
}

/** Tries until it works, until the error is one that stays, or until the time is over. */
export async function retrying<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const startedAtMs = performance.now();
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const spentMs = performance.now() - startedAtMs;
      if (spentMs >= options.forMs) throw error;
      options.onTrouble?.(error);
      const wantedMs = Math.max(pauseMs(failures), retryAfterMs(error));
      await pause(Math.min(wantedMs, options.forMs - spentMs), options.signal);
    }
  }
}

/** What the server asked for, within reason. */
function retryAfterMs(error: BerthUnreachable | Problem): number {
  const asked = error instanceof Problem ? error.facts["retryAfterSeconds"] : undefined;
  if (typeof asked !== "number") return 0;
  return Math.min(asked * 1_000, clientLimits.pauseMsMax);
}
