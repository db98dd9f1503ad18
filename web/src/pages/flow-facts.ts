/** The page's texts for a pool's pace, and for the effects of a pin. */
import type { Stats } from "../../../src/api/history-schemas.ts";
import type { Pool, RateChange, WaitingRequest } from "../../../src/api/schemas.ts";
import { rateMax, rateMin } from "../../../src/core/model/field-kinds.ts";
import { adaptive as adaptiveGroup } from "../../../src/core/model/policy-groups.ts";
import { briefDuration } from "../../../src/core/model/time.ts";
import { grouped, percent } from "../parts/numbers.ts";

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

type Adaptive = NonNullable<Pool["policy"]["adaptive"]>;

/** What a rise waits for: in a time in which less of the rate is used nothing is learnt. */
export function riseWords({ raiseAfter }: Pick<Adaptive, "raiseAfter">): string {
  const used = percent(adaptiveGroup.fields.used.default);
  return `after ${raiseAfter} without throttling in which ${used} of it was used`;
}

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

const oneDigit = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const noDigit = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A rate that was found or measured, and not set: more digits would say more than is known. */
export function roughRate(rate: number): string {
  if (rate < 1) return rateWords(rate);
  return (rate < 10 ? oneDigit : noDigit).format(rate);
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
 * there yet and may go first. Not said where resources are what is missing.
 */
export function expectsOthers(
  queue: readonly Pick<WaitingRequest, "space">[],
  { free, flow }: Pick<Pool, "free" | "flow">,
  seconds: number | null,
): boolean {
  if (seconds === null || flow.everySeconds === null || free === 0) return false;
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

/** An operator's pin that was removed since the last cut: the rate goes on from there, whatever was cut before. */
export function lastUnpin(changes: readonly RateChange[]): RateChange | undefined {
  const last = changes.findLast(({ cause, advised }) => !advised && cause !== "clean");
  return last?.cause === "unpinned" ? last : undefined;
}

interface RateSpan {
  readonly from: number;
  readonly to: number;
  readonly rate: number;
}

/** From when to when each rate was valid, in seconds since 1970; the last one is until now. */
function spansOf(changes: readonly RateChange[], until: number): RateSpan[] {
  return changes.flatMap(({ at, rate }, index) => {
    const next = changes[index + 1]?.at;
    const to = next === undefined ? until : Date.parse(next) / 1_000;
    return rate === null ? [] : [{ from: Date.parse(at) / 1_000, to, rate }];
  });
}

/**
 * What was allowed per minute beside what has started, in the same steps: the rate of a moment may be far
 * below what a whole minute has had. A step that goes on is apart: it may still grow.
 */
export function startsBesideRate(
  changes: readonly RateChange[],
  { steps, stepSeconds, to }: Pick<Stats, "steps" | "stepSeconds" | "to">,
) {
  const end = Date.parse(to) / 1_000;
  const spans = spansOf(changes, end);
  const starts = steps.map(({ at }) => Date.parse(at) / 1_000);
  const allowed = starts.map((from) => averageIn(spans, from, Math.min(end, from + stepSeconds)));
  const isOver = (index: number) => (starts[index] ?? end) + stepSeconds <= end;
  const counts = steps.map(({ granted }) => (granted * 60) / stepSeconds);
  const started = counts.map((count, index) => (isOver(index) ? count : undefined));
  const going = counts.map((count, index) => (isOver(index) ? undefined : count));
  const last = starts.at(-1);
  // One more, so that the last step is drawn in all its length.
  return last === undefined
    ? { times: [], allowed: [], started: [], going: [] }
    : {
        times: [...starts, last + stepSeconds],
        allowed: [...allowed, allowed.at(-1) ?? null],
        started: [...started, undefined],
        going: [...going, undefined],
      };
}

/** Null: there was no rate in this time, or it is not known. */
function averageIn(spans: readonly RateSpan[], from: number, to: number): number | null {
  const parts = spans.flatMap((span) => {
    const seconds = Math.min(to, span.to) - Math.max(from, span.from);
    return seconds > 0 ? [{ seconds, rate: span.rate }] : [];
  });
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
  const sum = parts.reduce((all, part) => all + part.seconds * part.rate, 0);
  return seconds === 0 ? null : sum / seconds;
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
    ...beyondWords(policy, rate),
    findsItsRate(policy)
      ? "Reports of throttling are counted, but do not change the rate."
      : "Leases and the order of the queue do not change.",
  ];
}

/** A rate that its reports could never have led to is worth a second thought. */
function beyondWords({ adaptive }: Pool["policy"], rate: number): string[] {
  if (adaptive === null || adaptive.mode === "off") return [];
  const { min, max } = adaptive;
  if (rate >= min && rate <= max) return [];
  const side = rate > max ? "more" : "less";
  return [
    `This is ${side} than its own rate ever is: between ${rateWords(min)} and ${rateWords(max)}.`,
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
    const { min, max } = adaptive;
    const pinned = flow.pinned?.rate ?? 0;
    const kept = Math.min(max, Math.max(min, pinned));
    const why = pinned > max ? "its maximum" : pinned < min ? "its minimum" : "the rate of the pin";
    return [
      `${name} continues with ${rateWords(kept)} starts per minute, ${why}.`,
      `Then reports of throttling change it, between ${rateWords(min)} and ${rateWords(max)}.`,
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
