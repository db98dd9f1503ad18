/**
 * Demand like that of a CI system: people push by day, nightly jobs start on the hour, a merge
 * starts several jobs at once, holds have a long tail, some jobs fail in their first minutes, some
 * die, some cancel.
 */
import { Random } from "../src/insight/forecast/random.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { bell, type DemoPool, kinds } from "./shape.ts";

export interface DayOptions {
  /** How long a day takes. */
  readonly dayMs: number;
  /** Times are rounded to this, so that events at the same time share a commit. */
  readonly grainMs: number;
  readonly seed: number;
}

const burstShare = 0.15;
const failShare = 0.12;
const dieShare = 0.01;
const impatientShare = 0.05;
const urgentShare = 0.04;

const repositories = [
  "api",
  "console",
  "operator",
  "installer",
  "agent",
  "cli",
  "proxy",
  "scheduler",
];
const jobNames = ["e2e", "upgrade", "conformance", "serial", "images", "perf", "unit-cluster"];

/** All that is asked for between two times, in order. Ids are unique over seeds and times. */
export function demandBetween(
  pools: readonly DemoPool[],
  from: number,
  to: number,
  options: DayOptions,
): Demand[] {
  const found: Demand[] = [];
  for (const [index, pool] of pools.entries()) {
    const random = new Random(options.seed * 100_003 + index * 7_919 + Math.floor(from / 1_000));
    const source = { pool, slots: slotsBeside(pools, pool, options.dayMs), random, options };
    for (const askedAt of arrivals(source, from, to)) found.push(jobOf(source, askedAt));
  }
  found.sort((a, b) => a.askedAt - b.askedAt);
  const prefix = `d${Math.floor(from).toString(36)}`;
  return found.map((demand, order) => ({ ...demand, order, id: `${prefix}-${order}` }));
}

interface Source {
  readonly pool: DemoPool;
  /** Some jobs install a cluster. They also need a slot of the same cloud, if it has slots. */
  readonly slots: { readonly pool: string; readonly share: number } | undefined;
  readonly random: Random;
  readonly options: DayOptions;
}

/** As many as the cloud's largest pool of slots allows, besides the jobs that want only a slot. */
function slotsBeside(pools: readonly DemoPool[], { name, kind }: DemoPool, dayMs: number) {
  if (kind !== "account" && kind !== "cluster") return undefined;
  const cloud = name.slice(0, name.indexOf("-") + 1);
  const here = pools.filter((pool) => pool.name.startsWith(cloud));
  const [slots] = here.filter((pool) => pool.kind === "slot").sort((a, b) => b.size - a.size);
  if (slots === undefined) return undefined;
  const installers = here.filter((pool) => pool.kind === "account" || pool.kind === "cluster");
  const perMs = installers.reduce((sum, pool) => {
    return sum + (pool.size * pool.load) / meanHoldMs(pool, dayMs);
  }, 0);
  const room = 0.25 * slots.size;
  return { pool: slots.name, share: Math.min(0.3, room / (perMs * meanHoldMs(slots, dayMs))) };
}

/** How busy a moment of the day is; the average is 1. Lowest at 4 am, highest at 3 pm. */
export function bustle(at: number, dayMs: number): number {
  const day = (at % dayMs) / dayMs;
  const tide = 1 - 0.35 * Math.cos(2 * Math.PI * (day - 3 / 24));
  const intoHour = (day * 24) % 1;
  return intoHour < 0.1 ? tide * 1.5 : tide * 0.944;
}

/** Poisson arrivals, thinned by how busy the moment is. Some arrivals are several jobs at once. */
function* arrivals({ pool, random, options }: Source, from: number, to: number) {
  const { dayMs, grainMs } = options;
  const holdMs = meanHoldMs(pool, dayMs);
  const bustleMax = 2.1;
  const burstMean = 1 + burstShare * 2.5;
  const gapMs = (holdMs * burstMean) / (pool.size * pool.load);
  let at = from;
  for (;;) {
    at += (-Math.log(1 - random.next()) * gapMs) / bustleMax;
    if (at >= to) return;
    if (random.next() * bustleMax > bustle(at, dayMs)) continue;
    const jobs = random.chance(burstShare) ? random.between(2, 5) : 1;
    for (let job = 0; job < jobs; job++) yield Math.floor(at / grainMs) * grainMs;
  }
}

function jobOf(source: Source, askedAt: number): Demand {
  const { pool, slots, random, options } = source;
  const { dayMs, grainMs } = options;
  const both = slots !== undefined && random.chance(slots.share);
  const items = [{ pool: pool.name, count: 1 }, ...(both ? [{ pool: slots.pool, count: 1 }] : [])];
  const afterMs = Math.max(grainMs, Math.round(holdOf(source) / grainMs) * grainMs);
  const forced = random.chance(dieShare);
  const patience = (dayMs / 24) * (0.5 + random.next() * 2);
  return {
    id: "",
    holder: `${random.pick(repositories)}/${random.pick(jobNames)}-${random.between(100, 9_999)}`,
    items,
    priority: random.chance(urgentShare) ? 10 : 0,
    askedAt,
    order: 0,
    patienceMs: random.chance(impatientShare) ? Math.round(patience / grainMs) * grainMs : null,
    ends: [{ claim: null, afterMs, forced }],
  };
}

function holdOf({ pool, random, options }: Source): number {
  const { holdMinutes, spread } = kinds[pool.kind];
  const minuteMs = options.dayMs / (24 * 60);
  if (random.chance(failShare)) return minuteMs * (2 + 8 * random.next());
  return minuteMs * holdMinutes * Math.exp(spread * bell(random));
}

/** Of the distribution that `holdOf` draws from. */
function meanHoldMs({ kind }: DemoPool, dayMs: number): number {
  const { holdMinutes, spread } = kinds[kind];
  const usual = holdMinutes * Math.exp(spread ** 2 / 2);
  return (dayMs / (24 * 60)) * (failShare * 6 + (1 - failShare) * usual);
}
