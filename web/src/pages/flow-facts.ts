/** What the page says of how fast a pool lends: in numbers, and before an operator changes it. */
import type { Pool, RateChange } from "../../../src/api/schemas.ts";
import { rateMax, rateMin } from "../../../src/core/model/field-kinds.ts";
import { roughDuration } from "../../../src/core/model/time.ts";

/** Whether anything but free resources can hold its grants back. */
export function hasFlow({ policy, flow }: Pool): boolean {
  if (policy.pace !== null || flow.pinned !== null || flow.limits.length > 0) return true;
  return findsItsRate(policy) || flow.nextGrantAt !== null;
}

/** Whether reports have a say; with `advise` they only say what they would do. */
export function findsItsRate({ adaptive }: Pool["policy"]): boolean {
  return adaptive !== null && adaptive.mode !== "off";
}

/** Three digits tell any rate from its neighbours: `0.00125`, `2.5`, `1,200`. */
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function rateWords(rate: number): string {
  return digits.format(rate);
}

/** `24s`; the parts of a second count where there are few of them. */
export function gapWords(seconds: number): string {
  return seconds < 10 ? `${digits.format(seconds)}s` : roughDuration(seconds * 1_000);
}

/** The rate over time, with a gap where there was none; the last change holds until now. */
export function stepsOf(changes: readonly RateChange[], nowMs: number) {
  const last = changes.at(-1);
  if (last === undefined) return { times: [], rates: [] };
  const times = changes.map(({ at }) => Date.parse(at) / 1_000);
  const rates = changes.map(({ rate }) => rate);
  const until = Math.max(nowMs / 1_000, times.at(-1) ?? 0);
  return { times: [...times, until], rates: [...rates, last.rate] };
}

/** What a pin will bring about. */
export function pinEffects({ name, flow, policy }: Pool, rate: number): string[] {
  if (!(rate >= rateMin && rate <= rateMax)) {
    return [`Say how many may start in a minute: from ${rateMin} to ${rateMax}.`];
  }
  const now =
    flow.everySeconds === null
      ? "Now nothing spaces its starts out."
      : `Now it is one every ${gapWords(flow.everySeconds)}.`;
  return [
    `${name} starts one every ${gapWords(60 / rate)} from now on, until somebody unpins it. ${now}`,
    findsItsRate(policy)
      ? "Reports of throttling are counted meanwhile, and change nothing."
      : "Whoever holds something keeps it; those who wait keep their places.",
  ];
}

/** What there will be without the pin. */
export function unpinEffects({ name, policy, flow }: Pool): string[] {
  const { adaptive, pace } = policy;
  if (adaptive?.mode === "auto") {
    const kept = Math.min(adaptive.max, Math.max(adaptive.min, flow.pinned?.rate ?? 0));
    return [
      `${name} goes on with ${rateWords(kept)} starts a minute.`,
      `Reports move it again, from ${rateWords(adaptive.min)} to ${rateWords(adaptive.max)}.`,
    ];
  }
  if (pace === null) {
    return [`Nothing spaces the starts of ${name} out: whoever waits for no more starts at once.`];
  }
  return [
    pace.every === "auto"
      ? `${name} spaces its starts by how long it is held again.`
      : `${name} starts one every ${pace.every} again, as it is configured.`,
  ];
}
