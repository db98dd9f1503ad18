/** The page's texts for a pool's pace, and for the effects of a pin. */
import type { Stats } from "../../../src/api/history-schemas.ts";
import type { Pool, RateChange, WaitingRequest } from "../../../src/api/schemas.ts";
import { rateMax, rateMin } from "../../../src/core/model/field-kinds.ts";
import { briefDuration } from "../../../src/core/model/time.ts";
import { grouped } from "../parts/numbers.ts";

/** Whether a pace can hold back its grants: its own, or one of a pool above it. */
export function hasPace({ policy, flow }: Pool): boolean {
  if (policy.pace !== null || flow.pinned !== null || flow.everySeconds !== null) return true;
  return findsItsRate(policy) || flow.nextGrantAt !== null;
}

/** Whether a request with this reason waits for a pace. */
export function isPaced(code: string): boolean {
  return code === "paced" || code === "limit_reduced";
}

/** Whether reports change the rate, or (`advise`) only what is advised. */
export function findsItsRate({ adaptive }: Pool["policy"]): boolean {
  return adaptive !== null && adaptive.mode !== "off";
}

/** A browser whose clock is a moment behind must not show more than the whole interval. */
const clockOffMs = 1_000;

/** The whole seconds until the next grant. */
export function secondsToGrant(leftMs: number, everySeconds: number | null): number {
  const everyMs = (everySeconds ?? 0) * 1_000;
  const isWhole = leftMs > everyMs && leftMs < everyMs + clockOffMs;
  return Math.ceil(Math.max(0, isWhole && everyMs > 0 ? everyMs : leftMs) / 1_000);
}

/** Three digits are enough for a rate: `0.00125`, `2.5`, `1,200`. */
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function rateWords(rate: number): string {
  return digits.format(rate);
}

/**
 * When the last of those who wait has started: by the estimates, which know the order and what comes
 * free; while some have none yet, by the pace too. Null: nobody has an estimate.
 */
export function backlogSeconds(
  queue: readonly Pick<WaitingRequest, "estimate">[],
  everySeconds: number | null,
): number | null {
  const known = queue.flatMap(({ estimate }) => (estimate === null ? [] : [estimate.p50Seconds]));
  if (known.length === 0) return null;
  if (known.length === queue.length) return Math.max(...known);
  return everySeconds === null ? null : Math.max(queue.length * everySeconds, ...known);
}

/** A time at the pace, and a bit for the grant that is on its way. */
const paceSlack = 1.25;

/**
 * Whether that time is longer than the pace alone would make it: then the estimates count requests that are not
 * there yet and may go first. Not said where resources may be what is missing.
 */
export function expectsOthers(
  queue: readonly Pick<WaitingRequest, "space">[],
  { free, flow }: Pick<Pool, "free" | "flow">,
  seconds: number | null,
): boolean {
  if (seconds === null || flow.everySeconds === null || free < queue.length) return false;
  const isShared = queue.some(({ space }) => space !== undefined);
  return isShared && seconds > queue.length * flow.everySeconds * paceSlack;
}

/** Above this part of its maximum a rate has recovered from its cuts, all but for a step or two. */
const recoveredPart = 0.9;

/** What throttling makes of the rate now; undefined: nothing. */
export function throttlingOf(
  rate: number | null,
  max: number,
): "throttled" | "recovering" | undefined {
  if (rate === null || rate >= max) return undefined;
  return rate < recoveredPart * max ? "throttled" : "recovering";
}

/** The last time that a report of throttling has cut the rate; undefined if none has. */
export function lastCut(changes: readonly RateChange[]): RateChange | undefined {
  return changes.findLast(({ cause, advised }) => cause === "throttled" && !advised);
}

/** The rate over time, with a gap where there was none. The last change is valid until now. */
export function stepsOf(changes: readonly RateChange[], nowMs: number) {
  const last = changes.at(-1);
  if (last === undefined) return { times: [], rates: [] };
  const times = changes.map(({ at }) => Date.parse(at) / 1_000);
  const rates = changes.map(({ rate }) => rate);
  const until = Math.max(nowMs / 1_000, times.at(-1) ?? 0);
  return { times: [...times, until], rates: [...rates, last.rate] };
}

interface Steps {
  readonly times: readonly number[];
  readonly rates: readonly (number | null)[];
}

/** The rate beside what has started per minute, in each step that is over. */
export function withStarts(
  { times, rates }: Steps,
  stats: Pick<Stats, "steps" | "stepSeconds" | "to">,
) {
  const { stepSeconds } = stats;
  const end = Date.parse(stats.to) / 1_000;
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const counted = stats.steps.flatMap(({ at, granted }) => {
    const from = Date.parse(at) / 1_000;
    const isWithin = from >= first && from <= last && from + stepSeconds <= end;
    return isWithin ? { from, perMinute: (granted * 60) / stepSeconds } : [];
  });
  const all = [...new Set([...times, ...counted.map(({ from }) => from)])].sort((a, b) => a - b);
  return {
    times: all,
    rates: all.map((at) => rates[times.findLastIndex((change) => change <= at)] ?? null),
    starts: all.map((at) => {
      return counted.find(({ from }) => from <= at && at < from + stepSeconds)?.perMinute;
    }),
  };
}

/** A change, and how many rises in a row it stands for. */
export type FoldedChange = RateChange & { readonly rises: number };

/** Newest first. Rises in a row are one: otherwise they hide the cuts, which people look for. */
export function foldedChanges(changes: readonly RateChange[]): FoldedChange[] {
  const folded: FoldedChange[] = [];
  for (const change of changes) {
    const last = folded.at(-1);
    if (last?.cause === "clean" && change.cause === "clean" && last.advised === change.advised) {
      folded[folded.length - 1] = { ...change, was: last.was, rises: last.rises + 1 };
    } else folded.push({ ...change, rises: 1 });
  }
  return folded.toReversed();
}

/** The effects of a pin. */
export function pinEffects(pool: Pool, rate: number): string[] {
  const { name, flow, policy } = pool;
  if (!(rate >= rateMin && rate <= rateMax)) {
    return [
      hasPace(pool)
        ? `${name} keeps this rate until somebody unpins it, whatever its pace or reports of throttling say.`
        : `${name} has no start rate now, and keeps this one until somebody unpins it.${limitStays(pool)}`,
      `Enter the starts per minute: ${rateMin} to ${grouped(rateMax)}.`,
    ];
  }
  const now =
    flow.everySeconds === null
      ? "It has no pace now."
      : `Now: one every ${briefDuration(flow.everySeconds * 1_000)}.`;
  return [
    `${name} grants one lease every ${briefDuration(60_000 / rate)} until somebody unpins it. ${now}`,
    findsItsRate(policy)
      ? "Reports of throttling are counted, but do not change the rate."
      : "Leases and the order of the queue do not change.",
  ];
}

/** A rate is how fast it lends, and not how much. */
function limitStays({ limit }: Pool): string {
  return limit === undefined ? "" : ` Its limit of ${grouped(limit.limit)} stays.`;
}

/** The effects of removing the pin. */
export function unpinEffects({ name, policy, flow }: Pool): string[] {
  const { adaptive, pace } = policy;
  if (adaptive?.mode === "auto") {
    const kept = Math.min(adaptive.max, Math.max(adaptive.min, flow.pinned?.rate ?? 0));
    return [
      `${name} continues with ${rateWords(kept)} starts per minute.`,
      `Reports change the rate again, from ${rateWords(adaptive.min)} to ${rateWords(adaptive.max)}.`,
    ];
  }
  if (pace === null) {
    return [`${name} has no other pace: waiting requests start as soon as a resource is free.`];
  }
  return [
    pace.every === "auto"
      ? `${name} paces its grants by its mean hold time again.`
      : `${name} grants one lease every ${pace.every} again, as configured.`,
  ];
}
