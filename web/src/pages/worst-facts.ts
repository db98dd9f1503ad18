/** Which pools kept requests waiting, were full or lost leases: where to look first. */
import type { PoolStats } from "../../../src/api/history-schemas.ts";
import { briefDuration, roughDuration } from "../../../src/core/model/time.ts";
import { grouped, percent } from "../parts/numbers.ts";

export type PoolPart = PoolStats["pools"][number];

export const worstOrders = [
  ["", "Waited longest"],
  ["p90", "Slowest 1 in 10"],
  ["use", "Fullest"],
  ["lost", "Most lost"],
] as const;

/** The columns that sort too. The first three are the tabs. */
export const worstColumns = {
  ...{ waited: "", p90: "p90", use: "use", longest: "max", granted: "granted" },
  ...{ expired: "expired", left: "left" },
} as const;

/** All waiting for it together, in seconds: also of those that never started, or still wait. */
export function waitedInAll({ waitedSeconds }: PoolPart): number {
  return waitedSeconds;
}

/** Claims that expired, and requests that left the queue with nothing. */
export function lostOf({ expired, left }: PoolPart): number {
  return expired + left;
}

/** `3 %` of the leases that ended; empty if none expired. */
export function expiredShare({ expired, ended }: Pick<PoolPart, "expired" | "ended">): string {
  if (expired === 0) return "";
  const share = expired / Math.max(expired, ended);
  return share < 0.01 ? "< 1 %" : percent(share);
}

const measures: Readonly<Record<string, (part: PoolPart) => number>> = {
  p90: ({ waitSeconds }) => waitSeconds?.p90 ?? 0,
  use: ({ utilisation }) => utilisation ?? 0,
  lost: lostOf,
  max: ({ waitSeconds }) => waitSeconds?.max ?? 0,
  granted: ({ granted }) => granted,
  expired: ({ expired }) => expired,
  left: ({ left }) => left,
};

/** The worst first; pools of which nothing bad can be said in this order are left out. */
export function worstBy(pools: readonly PoolPart[], order: string): readonly PoolPart[] {
  const measure = (Object.hasOwn(measures, order) && measures[order]) || waitedInAll;
  return pools
    .filter((part) => measure(part) > 0)
    .toSorted((a, b) => measure(b) - measure(a) || (a.pool < b.pool ? -1 : 1));
}

/** A shorter time in all is no reason to look anywhere. */
const noteworthySeconds = 60;

export interface WorstWords {
  readonly text: string;
  /** A pool of which more would help. */
  readonly lacking?: string;
  /** A pool that had free resources on average: something else held its requests back, or it was full for a short time. */
  readonly halfFree?: string;
}

/** The answer in a sentence, for each order: where to look, and whether more of it would help. */
export function worstWords(pools: readonly PoolPart[], order: string): WorstWords {
  const sentence = (Object.hasOwn(sentences, order) && sentences[order]) || mostWaiting;
  return sentence(pools);
}

const sentences: Readonly<Record<string, (pools: readonly PoolPart[]) => WorstWords>> = {
  p90: slowest,
  use: fullest,
  lost: mostLost,
  expired: mostLost,
  left: mostLost,
  max: slowest,
};

function slowest(pools: readonly PoolPart[]): WorstWords {
  const [worst] = worstBy(pools, "p90");
  if (worst === undefined) return { text: "Nowhere did more than 1 in 10 wait." };
  const { pool, waitSeconds, utilisation } = worst;
  const { p90 = 0, max = 0 } = waitSeconds ?? {};
  const waited =
    briefly(p90) === briefly(max)
      ? `The slowest request of ${pool} waited ${briefly(max)}`
      : `The slowest tenth of ${pool} waited longer than ${briefly(p90)}, up to ${briefly(max)}`;
  const text = `${waited}; ${inUse(utilisation)}.`;
  return withHelp(text, worst);
}

function fullest(pools: readonly PoolPart[]): WorstWords {
  const [worst] = worstBy(pools, "use");
  if (worst === undefined) return { text: "Nothing was lent in this time." };
  const { pool, waitSeconds, utilisation } = worst;
  const p90 = waitSeconds?.p90 ?? 0;
  const text = `The fullest pool was ${pool}, ${inUse(utilisation)}; `;
  return p90 < 1
    ? { text: `${text}9 in 10 started at once.` }
    : withHelp(`${text}9 in 10 started within ${briefly(p90)}.`, worst);
}

function mostLost(pools: readonly PoolPart[]): WorstWords {
  const [worst] = worstBy(pools, "lost");
  if (worst === undefined) {
    return {
      text: "Nothing was lost: no lease expired, and every request started or still waits.",
    };
  }
  const { pool, expired, left, granted } = worst;
  const all = pools.reduce((sum, part) => sum + lostOf(part), 0);
  const parts = [
    ...(expired === 0
      ? []
      : [
          `${grouped(expired)} expired ${expired === 1 ? "lease" : "leases"} of ${grouped(granted)} granted`,
        ]),
    ...(left === 0
      ? []
      : [`${grouped(left)} ${left === 1 ? "request" : "requests"} that never started`]),
  ];
  return {
    text: `${percent(lostOf(worst) / all)} of what was lost was of ${pool}: ${parts.join(" and ")}.`,
  };
}

function mostWaiting(pools: readonly PoolPart[]): WorstWords {
  const all = pools.reduce((sum, part) => sum + waitedInAll(part), 0);
  const [worst] = worstBy(pools, "");
  if (worst === undefined || all < noteworthySeconds) {
    const [fullest] = worstBy(pools, "use");
    if (fullest === undefined) return { text: "Nothing was lent in this time." };
    const waited =
      all < 1 ? "Nobody waited." : `All waits together were ${roughDuration(all * 1_000)}.`;
    return {
      text: `${waited} The fullest pool was ${fullest.pool}, ${inUse(fullest.utilisation)}.`,
    };
  }
  const { pool, waitSeconds, utilisation } = worst;
  const share = percent(waitedInAll(worst) / all);
  const started =
    waitSeconds === null ? "nothing started" : `9 in 10 starts within ${briefly(waitSeconds.p90)}`;
  const sum = roughDuration(waitedInAll(worst) * 1_000);
  const text = `${share} of all waiting was for ${pool}: ${sum} in all, ${started}, ${inUse(utilisation)}.`;
  return withHelp(text, worst);
}

function inUse(utilisation: number | null): string {
  return `${percent(utilisation ?? 0)} in use`;
}

function briefly(seconds: number): string {
  return briefDuration(seconds * 1_000);
}

/** From here on a pool is as good as full. */
const fullFrom = 0.8;
const halfEmptyBelow = 0.6;

function withHelp(text: string, { pool, utilisation }: PoolPart): WorstWords {
  if (utilisation === null) return { text };
  if (utilisation >= fullFrom) return { text, lacking: pool };
  return utilisation < halfEmptyBelow ? { text, halfFree: pool } : { text };
}
