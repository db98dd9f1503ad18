/** Which questions about a pool a replay can answer, and with which values. */
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import type { Space } from "../../../src/api/space-schemas.ts";
import { strategies } from "../../../src/core/model/strategies.ts";
import { briefDuration, parseDuration } from "../../../src/core/model/time.ts";

export type Topic = "size" | "limit" | "hosts" | "pace" | "placement" | "weight";

/** One question: a setting, and the values that are compared. */
export interface WhatIfQuestion {
  readonly topic: Topic;
  readonly title: string;
  /** The value in force; undefined: there is none. */
  readonly today: string | undefined;
  readonly suggested: readonly string[];
  /** Whether the values are numbers or durations, so that a curve can be drawn. */
  readonly numeric: boolean;
}

/** As many as one call may ask for, with the present configuration. */
export const valuesMax = 12;

/** A space that may have another weight, and the one that it has. */
export type WeightedSpace = Pick<Space, "name" | "weight">;

/** `space` is the one whose weight may be asked about; undefined: nobody shares the pool. */
export function questionsOf(pool: Pool, space: WeightedSpace | undefined): WhatIfQuestion[] {
  const { limit, place, template } = pool;
  if (template !== undefined) return [];
  // Of a shared pool the counts are amounts.
  const total = place === undefined ? countsOf(pool).total : pool.total;
  const counted = (topic: "size" | "limit" | "hosts", title: string): WhatIfQuestion => ({
    ...{ topic, title, today: String(total), suggested: around(total), numeric: true },
  });
  return [
    ...(limit !== undefined ? [counted("limit", "another limit")] : []),
    ...(limit === undefined && place === undefined ? [counted("size", "another size")] : []),
    ...(place !== undefined ? [counted("hosts", "more or fewer hosts")] : []),
    ...(place !== undefined ? [placement(place)] : []),
    ...(findsItsRate(pool) ? [] : [pace(everyOf(pool))]),
    ...(space === undefined ? [] : [weightOf(space)]),
  ];
}

/**
 * The question to begin with: what requests wait for now. While resources are free, it is the pace.
 * Undefined: the first one.
 */
export function firstTopic(pool: Pool): Topic | undefined {
  const { limit, place, flow } = pool;
  const isPaced = flow.everySeconds !== null && !findsItsRate(pool);
  if (!isPaced || limit !== undefined || place !== undefined) return undefined;
  return countsOf(pool).free > 0 ? "pace" : undefined;
}

/** What is asked, as a question. */
export function questionWords(
  { name: pool, states }: Pick<Pool, "name" | "states">,
  { topic, today }: Pick<WhatIfQuestion, "topic" | "today">,
  space: string,
): string {
  const than = today === undefined ? "" : `, which is ${today} today`;
  // A replay lends them too.
  const out = ["quarantined", "drained"].flatMap((state) => {
    const count = states[state] ?? 0;
    return count === 0 ? [] : `${count} ${count === 1 ? "is" : "are"} ${state}`;
  });
  const ofWhich = out.length === 0 ? "" : `, of which ${out.join(" and ")}`;
  const ifs: Readonly<Record<Topic, string>> = {
    size: `${pool} had more or fewer resources than its ${today}${ofWhich}`,
    hosts: `${pool} had more or fewer hosts than its ${today}${ofWhich}, with the capacities of these`,
    limit: `the limit ${pool} were another than ${today}`,
    pace: `${pool} had another time between two starts${than}`,
    placement: `${pool} had another strategy than ${today}`,
    weight: `the space ${space} had another weight than ${today}`,
  };
  return `How long would requests wait if ${ifs[topic]}?`;
}

/** Reports of throttling change its rate, and no replay has them: no pace can be compared with another. */
function findsItsRate({ policy }: Pool): boolean {
  return policy.adaptive?.mode === "auto";
}

/** Seconds between two starts as they are configured: a replay has no pin either. */
function everyOf({ policy, flow }: Pool): number | null {
  const configured = parseDuration(policy.pace?.every ?? "");
  if (configured !== undefined) return configured / 1_000;
  return flow.pinned === null ? flow.everySeconds : null;
}

const usualWeights = [0.5, 1, 2, 3, 5];

function weightOf({ weight }: WeightedSpace): WhatIfQuestion {
  const suggested = [...new Set([...usualWeights, weight])].sort((a, b) => a - b).map(String);
  return {
    ...{ topic: "weight", title: "another weight of a space", today: String(weight) },
    ...{ suggested, numeric: true },
  };
}

function placement(place: string): WhatIfQuestion {
  const suggested = [place, ...strategies.filter((one) => one !== place)];
  return { topic: "placement", title: "another strategy", today: place, suggested, numeric: false };
}

function pace(everySeconds: number | null): WhatIfQuestion {
  const today = everySeconds === null ? undefined : `${everySeconds}s`;
  const suggested =
    everySeconds === null
      ? ["5s", "15s", "30s", "1m", "2m"]
      : [0.5, 0.75, 1, 1.5, 2].map((part) => `${Number((everySeconds * part).toFixed(1))}s`);
  return { topic: "pace", title: "another pace", today, suggested, numeric: true };
}

/** Sizes on both sides of the present one, closer together near it. */
function around(total: number): string[] {
  const parts = [0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2];
  const sizes = parts.map((part) => Math.max(1, Math.round(total * part)));
  const few = total < 6 ? [total + 1, total + 2] : [];
  return [...new Set([...sizes, ...few])].sort((a, b) => a - b).map(String);
}

/** The setting of one value, as the API takes it. */
export function settingOf(topic: Topic, value: string, pool: string, space: string): string {
  const key = {
    size: "count",
    hosts: "count",
    limit: "limit",
    pace: "pace.every",
    placement: "place",
  } as const;
  return topic === "weight" ? `space:${space}.weight=${value}` : `${pool}.${key[topic]}=${value}`;
}

function wordsIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter((word) => word !== "");
}

/** What people wrote as a list of values: without repetitions, in order if they are numbers. */
export function valuesIn(text: string, { numeric }: Pick<WhatIfQuestion, "numeric">): string[] {
  const values = [...new Set(wordsIn(text))].slice(0, valuesMax);
  return numeric ? values.sort((a, b) => numberOf(a) - numberOf(b)) : values;
}

/** A number, or a duration in seconds; NaN if it is neither. */
export function numberOf(value: string): number {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
  const ms = parseDuration(value);
  return ms === undefined ? Number.NaN : ms / 1_000;
}

/** What one value of each question is, if it is not one of a list. */
const kinds: Readonly<Record<Exclude<Topic, "placement">, readonly [string, string]>> = {
  size: ["a whole number of 1 or more", "whole numbers of 1 or more"],
  hosts: ["a whole number of 1 or more", "whole numbers of 1 or more"],
  limit: ["a whole number of 1 or more", "whole numbers of 1 or more"],
  pace: ["a time such as 30s", "times such as 30s"],
  weight: ["a number above 0", "numbers above 0"],
};

/** Why these values cannot be compared, as far as the form can tell; undefined: they can. */
export function valuesProblem(text: string, { topic }: Pick<WhatIfQuestion, "topic">) {
  const values = [...new Set(wordsIn(text))];
  if (values.length === 0) return "Write one value or more, with commas between them";
  if (values.length > valuesMax) return `These are ${values.length} values: at most ${valuesMax}`;
  const wrong = values.filter((value) => !isValue(topic, value));
  if (wrong.length === 0) return undefined;
  const [one, several] =
    topic === "placement"
      ? [`one of ${strategies.join(", ")}`, strategies.join(", ")]
      : kinds[topic];
  return wrong.length === 1
    ? `${wrong[0]} is not ${one}`
    : `${wrong.slice(0, -1).join(", ")} and ${wrong.at(-1)} are not ${several}`;
}

function isValue(topic: Topic, value: string): boolean {
  if (topic === "placement") return strategies.some((strategy) => strategy === value);
  if (topic === "pace") return !/^\d/.test(value) ? false : parseDuration(value) !== undefined;
  return (topic === "weight" ? /^\d+(?:\.\d+)?$/ : /^\d+$/).test(value) && Number(value) > 0;
}

export interface Caveat {
  readonly text: string;
  /** The limit that can be asked about on its own page. */
  readonly limit?: string;
}

/** Why a pool has no what-if, or what its replay leaves out; undefined: nothing special. */
export function caveatOf(pool: Pool): Caveat | undefined {
  const { name, flow } = pool;
  const text = leftOut(pool);
  if (text !== undefined) return { text };
  const [above] = flow.limits.filter(({ pool }) => pool !== name);
  if (above === undefined) return undefined;
  return {
    text: `The limit of ${above.pool} (${above.limit} in all) stays as it is in every answer, so more of this
      pool may not help.`,
    limit: above.pool,
  };
}

/** What makes requests wait besides the number of resources, or of what there may be. */
export interface Cause {
  /** `the pace (one every 4s)`. */
  readonly words: string;
  /** It is full from this value on; absent: it holds whatever the value is. */
  readonly from?: number;
  /** The question about it. */
  readonly ask?: Topic;
}

/** What is asked first, with the value from which on the pools below a limit are full: no larger one helps. */
export function suggestedFor(
  { topic, suggested }: WhatIfQuestion,
  below: readonly { readonly total: number }[],
): readonly string[] {
  const all = below.reduce((sum, { total }) => sum + total, 0);
  if (topic !== "limit" || all === 0) return suggested;
  return [...new Set([...suggested.map(Number), all])].sort((a, b) => a - b).map(String);
}

/** Undefined: none is known, or more than one. `below` are the pools below a limit. */
export function causeOf(
  { name, flow, limit }: Pool,
  topic: Topic,
  below: readonly { readonly name: string; readonly total: number }[],
  spaces: readonly Space[] = [],
): Cause | undefined {
  if (topic !== "size" && topic !== "limit" && topic !== "hosts") return undefined;
  const above = flow.limits.filter(({ pool }) => pool !== name);
  if (flow.everySeconds !== null) {
    const words = `the pace (one every ${briefDuration(flow.everySeconds * 1_000)})`;
    return above.length > 0 ? undefined : { words, ask: "pace" };
  }
  const [first] = above;
  if (first !== undefined) {
    return above.length > 1 ? undefined : { words: `the limit of ${first.pool} (${first.limit})` };
  }
  const quota = fullQuotas(name, spaces);
  if (quota !== undefined) return limit === undefined ? { words: quota } : undefined;
  const all = below.reduce((sum, { total }) => sum + total, 0);
  if (limit === undefined || all === 0) return undefined;
  const names = below.map((pool) => `${pool.name} ${pool.total}`).join(", ");
  return { words: `the size of the pools below it (${names})`, from: all };
}

/** `the quota of web (4)`: of spaces that hold all of it and wait for more. What a cohort lends changes. */
function fullQuotas(pool: string, spaces: readonly Space[]): string | undefined {
  const full = spaces.flatMap(({ name, quotas, waits = [] }) => {
    if (!waits.some((one) => one.pool === pool)) return [];
    const own = quotas.filter((one) => one.pool === pool && one.dimension === null);
    return own.flatMap(({ held, max, cohort }) => {
      return cohort === null && held >= max ? [{ name, max }] : [];
    });
  });
  const [first, ...more] = full;
  if (first === undefined) return undefined;
  if (more.length === 0) return `the quota of ${first.name} (${first.max})`;
  return `a quota (${full.map(({ name, max }) => `${name} ${max}`).join(", ")})`;
}

function leftOut(pool: Pool): string | undefined {
  const { template, admission } = pool;
  if (template !== undefined) {
    return `A replay does not apply here: how long clusters take to make is not replayed, and that is
      most of the wait. Watch its stock above, and the phases of its clusters, which "Show its clusters" lists.`;
  }
  if (admission !== null) {
    return `This pool has an admission check. Its results are not replayed, so waits for it are
      missing from every answer.`;
  }
  if (findsItsRate(pool)) {
    return `Another pace cannot be compared here: the start rate finds itself from reports of throttling,
      and those are not replayed. Other settings can; in their answers the rate only rises, so trust
      the differences more than the times.`;
  }
  return undefined;
}
