/** Which pools kept requests waiting, were full or lost leases: where to look first. */
import type { PoolStats } from "../../../src/api/history-schemas.ts";
import { briefDuration, roughDuration } from "../../../src/core/model/time.ts";
import { percent } from "../parts/numbers.ts";

export type PoolPart = PoolStats["pools"][number];

export const worstOrders = [
  ["", "Waited longest"],
  ["p90", "Slowest 1 in 10"],
  ["use", "Fullest"],
  ["lost", "Most lost"],
] as const;

/** The waits of all its claims together, in seconds. */
export function waitedInAll({ granted, waitSeconds }: PoolPart): number {
  return granted * (waitSeconds?.mean ?? 0);
}

/** Claims that expired, and requests that left the queue with nothing. */
export function lostOf({ expired, left }: PoolPart): number {
  return expired + left;
}

const measures: Readonly<Record<string, (part: PoolPart) => number>> = {
  p90: ({ waitSeconds }) => waitSeconds?.p90 ?? 0,
  use: ({ utilisation }) => utilisation ?? 0,
  lost: lostOf,
};

/** The worst first; pools of which nothing bad can be said in this order are left out. */
export function worstBy(pools: readonly PoolPart[], order: string): readonly PoolPart[] {
  const measure = measures[order] ?? waitedInAll;
  return pools
    .filter((part) => measure(part) > 0)
    .toSorted((a, b) => measure(b) - measure(a) || (a.pool < b.pool ? -1 : 1));
}

/** A shorter time in all is no reason to look anywhere. */
const noteworthySeconds = 60;

/** The answer in a sentence: where to look, and whether more of it would help. */
export function worstWords(pools: readonly PoolPart[]): string {
  const all = pools.reduce((sum, part) => sum + waitedInAll(part), 0);
  const [worst] = worstBy(pools, "");
  if (worst === undefined || all < noteworthySeconds) {
    const [fullest] = worstBy(pools, "use");
    if (fullest === undefined) return "Nothing was lent in this time.";
    const waited =
      all < 1 ? "Nobody waited." : `All waits together were ${roughDuration(all * 1_000)}.`;
    return `${waited} The fullest pool was ${fullest.pool}, ${percent(fullest.utilisation ?? 0)} in use.`;
  }
  const { pool, waitSeconds, utilisation } = worst;
  const share = percent(waitedInAll(worst) / all);
  const p90 = briefDuration((waitSeconds?.p90 ?? 0) * 1_000);
  const sum = roughDuration(waitedInAll(worst) * 1_000);
  return `${share} of all waiting was for ${pool}: ${sum} in all, 9 in 10 within ${p90}, ${percent(utilisation ?? 0)} in use. ${helpWords(utilisation)}`;
}

/** From here on a pool is as good as full. */
const fullFrom = 0.8;
const halfEmptyBelow = 0.6;

function helpWords(utilisation: number | null): string {
  if (utilisation === null) return "";
  if (utilisation >= fullFrom) return "More of it would help.";
  return utilisation < halfEmptyBelow
    ? "Much of it was free: a pace, a limit or admission held requests back."
    : "";
}
