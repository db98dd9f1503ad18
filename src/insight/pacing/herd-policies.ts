/** The policies for a herd that are worth comparing. */
import type { PacePolicy } from "../../core/model/policy.ts";
import { type Herd, herdSize, holdMs } from "./herd.ts";

const limit = 50;
const pace = (everyMs: PacePolicy["everyMs"], more: Partial<PacePolicy> = {}): Herd => ({
  size: limit,
  policy: { pace: { everyMs, burst: 1, jitter: 0, ...more } },
});

export const herdPolicies = {
  /** Enough for all jobs. */
  none: { size: herdSize, policy: {} },
  plain: { size: limit, policy: {} },
  paced: pace(24_000),
  pacedAuto: pace("auto"),
  pacedJitter: pace(24_000, { jitter: 0.25 }),
  pacedBurst: pace(24_000, { burst: 3 }),
  pacedFast: pace(12_000),
  pacedWide: { ...pace(19_200), size: 63 },
} as const satisfies Readonly<Record<string, Herd>>;

const sleepMsMax = 15 * 60_000;

/** A client without help of the server can only sleep up to fifteen minutes before its request. */
export function sleepers(seed: number): Herd {
  const random = diceOf(seed);
  const sleeps = Array.from({ length: herdSize }, () => Math.floor(random() * sleepMsMax));
  return { ...herdPolicies.plain, sleepMs: (index) => sleeps[index] ?? 0 };
}

/** The same herd, but the duration of each job varies by up to this much. */
export function unsteady(herd: Herd, upToMs: number, seed: number): Herd {
  const random = diceOf(seed);
  const takes = Array.from({ length: herdSize }, () => {
    return holdMs + Math.round((2 * random() - 1) * upToMs);
  });
  return { ...herd, takesMs: (index) => takes[index] ?? holdMs };
}

/** From 0 to 1, the same for the same seed (mulberry32). */
function diceOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}
