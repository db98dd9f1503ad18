import { Problem } from "../api/problem.ts";
import { BerthUnreachable } from "./errors.ts";
import { clientLimits } from "./limits.ts";

/** Resolves after the time, or rejects with the signal's reason when it aborts. */
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
 * The backoff after this many failures in a row. Half of it is jitter, so that the clients do not
 * all reconnect at the same time after a restart.
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
  /** How long to retry. After that, throws the error of the last try. */
  readonly forMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each pause, to log the reason of the delay. */
  readonly onRetry?: ((error: BerthUnreachable | Problem) => void) | undefined;
}

/** Retries until success, a permanent error, or the time limit. */
export async function retrying<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const startedAtMs = performance.now();
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTemporary(error)) throw error;
      const spentMs = performance.now() - startedAtMs;
      if (spentMs >= options.forMs) throw error;
      options.onRetry?.(error);
      const wantedMs = Math.max(pauseMs(failures), retryAfterMs(error));
      await pause(Math.min(wantedMs, options.forMs - spentMs), options.signal);
    }
  }
}

/** The server's Retry-After, up to our own maximum pause. */
function retryAfterMs(error: BerthUnreachable | Problem): number {
  const asked = error instanceof Problem ? error.facts["retryAfterSeconds"] : undefined;
  if (typeof asked !== "number") return 0;
  return Math.min(asked * 1_000, clientLimits.pauseMsMax);
}
