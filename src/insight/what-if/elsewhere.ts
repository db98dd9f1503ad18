/**
 * What spaces hold of the pools that are not replayed. The space with the lowest share of any pool goes first, so
 * without these a replay has other turns than the past had: of 363 requests for a shared pool half started within
 * 3m31s instead of 47s. To replay the other pools too would be exact, and as much work as all of them.
 *
 * Instead each space holds as large a part of a pool of its own, and everything else follows from the core.
 */
import type { PoolName, ResourceName } from "../../core/model/ids.ts";
import { defaultPolicy, type PoolSpec } from "../../core/model/policy.ts";
import type { HistoryEntry, OpenEntry, PoolSize } from "../history/entry.ts";
import type { Demand } from "./demand.ts";

interface Past {
  readonly from: number;
  readonly to: number;
  /** Of all pools. Read only if some pools are not replayed, and spaces take turns. */
  readonly ended: () => Iterable<HistoryEntry>;
  readonly open: readonly OpenEntry[];
  readonly sizes: readonly PoolSize[];
  /** All that were in force. */
  readonly pools: readonly PoolSpec[];
  /** Those that are replayed; undefined: all. */
  readonly reached: ReadonlySet<string> | undefined;
  /** Those that ask for something in the replay. */
  readonly spaces: ReadonlySet<string>;
  /** The shortest lifetime of a lease of these spaces. */
  readonly lifetimeMs: number;
}

type Recorded = Past & { readonly reached: ReadonlySet<string> };

interface Elsewhere {
  readonly pools: readonly PoolSpec[];
  readonly demand: readonly Demand[];
  /** There were more claims than are looked at: shares count only the replayed pools. */
  readonly isTooMuch?: true;
}

const nothing: Elsewhere = { pools: [], demand: [] };

/** No name in a configuration has a blank. */
const prefix = "elsewhere ";

export function isElsewhere({ pool }: { readonly pool: string }): boolean {
  return pool.startsWith(prefix);
}

/** Parts change with every grant, so they are looked at so many times in the period. */
const samples = 2_000;
/** Smaller parts rarely decide a turn. */
const wholePart = 100;
/** About 100 MB. */
const claimsMax = 500_000;
/** The number of claims, or of samples of a space, between two yields. */
const sliceLength = 2_000;

/** Yields while it works, as `whatIf` does. */
export function* elsewhere({ reached, ...past }: Past): Generator<number, Elsewhere, undefined> {
  if (reached === undefined || past.spaces.size === 0) return nothing;
  const held: Held[] = [];
  for (const claim of claimsOf({ ...past, reached })) {
    if (held.push(claim) % sliceLength === 0) yield 0;
    if (held.length > claimsMax) return { ...nothing, isTooMuch: true };
  }
  const steps = [...(yield* partsOverTime(held, past))];
  return {
    pools: steps.map(([space]) => poolOf(space)),
    demand: steps.flatMap(([space, parts]) => holding(space, parts, past)),
  };
}

function poolOf(space: string): PoolSpec {
  const name = prefix + space;
  const room = { index: 0, capacity: { part: wholePart } };
  return {
    name: name as PoolName,
    policy: { ...defaultPolicy, lockDelayMs: 0, placement: { strategy: "least-used" } },
    members: [{ name: name as ResourceName, labels: {}, room }],
  };
}

interface Step {
  readonly at: number;
  /** In hundredths. */
  readonly part: number;
}

/**
 * A lease for each step, which ends as the next one begins. One step may stand for many leases in a row, so a
 * lifetime of the space does not end it: then another one follows.
 */
function holding(
  space: string,
  steps: readonly Step[],
  { from, to, lifetimeMs }: Pick<Past, "from" | "to" | "lifetimeMs">,
): Demand[] {
  return steps.flatMap(({ at, part }, index): Demand[] => {
    if (part === 0) return [];
    const items = [{ pool: prefix + space, count: 1, amount: { part } }];
    const untilMs = steps[index + 1]?.at ?? to;
    const shortestMs = Math.ceil((to - from) / samples);
    const leaseMs = Math.min(untilMs - at, Math.max(shortestMs, Math.floor(lifetimeMs / 2)));
    return Array.from({ length: Math.ceil((untilMs - at) / leaseMs) }, (_, count): Demand => {
      const askedAt = at + count * leaseMs;
      const afterMs = Math.min(leaseMs, untilMs - askedAt);
      return {
        ...{ id: `${prefix}${space} ${askedAt}`, holder: prefix, space, items, priority: 0 },
        ...{ askedAt, order: -1, patienceMs: null },
        ends: [{ claim: null, afterMs, forced: false }],
      };
    });
  });
}

/** One claim while it was held. */
interface Held {
  readonly space: string;
  readonly from: number;
  readonly to: number;
  /** What it counts in: a pool, a limit, a dimension. */
  readonly parts: readonly (readonly [key: string, part: number])[];
}

/** The largest part that each space held of any of these pools, where it changes. */
function* partsOverTime(
  held: readonly Held[],
  past: Pick<Past, "from" | "to" | "spaces">,
): Generator<number, Map<string, Step[]>, undefined> {
  const begins = held.toSorted((a, b) => a.from - b.from).values();
  const ends = held.toSorted((a, b) => a.to - b.to).values();
  const holdings = new Map([...past.spaces].map((space) => [space, new Map<string, number>()]));
  const steps = new Map<string, Step[]>();
  const everyMs = Math.max(1_000, Math.ceil((past.to - past.from) / samples));
  let [begin, end] = [begins.next(), ends.next()];
  const samplesPerSlice = Math.ceil(sliceLength / Math.max(1, past.spaces.size));
  for (let at = past.from, count = 0; at < past.to; at += everyMs, count += 1) {
    if (count % samplesPerSlice === 0) yield 0;
    for (; !begin.done && begin.value.from <= at; begin = begins.next()) add(begin.value, 1);
    for (; !end.done && end.value.to <= at; end = ends.next()) add(end.value, -1);
    for (const [space, holding] of holdings) {
      const part = Math.min(wholePart, Math.round(Math.max(0, ...holding.values()) * wholePart));
      const known = steps.get(space) ?? [];
      if (part === (known.at(-1)?.part ?? 0)) continue;
      steps.set(space, known);
      known.push({ at, part });
    }
  }
  return steps;

  function add({ space, parts }: Held, by: 1 | -1): void {
    const holding = holdings.get(space);
    for (const [key, part] of parts) holding?.set(key, (holding.get(key) ?? 0) + by * part);
  }
}

function* claimsOf({ ended, open, from, to, ...about }: Recorded): Generator<Held> {
  const { spaces, reached } = about;
  const partsOf = partsIn(about);
  for (const { purpose, space, pool, amount, grantedAt, endedAt } of ended()) {
    if (purpose !== "use" || grantedAt === null || grantedAt >= to || endedAt <= from) continue;
    if (!spaces.has(space) || reached.has(pool)) continue;
    yield { space, from: grantedAt, to: endedAt, parts: partsOf(pool, amount) };
  }
  for (const { space, grantedAt, claims } of open) {
    if (grantedAt === null || grantedAt >= to || !spaces.has(space)) continue;
    for (const { pool, amount = null, purpose } of claims) {
      if (purpose !== undefined || reached.has(pool)) continue;
      yield { space, from: grantedAt, to: Number.POSITIVE_INFINITY, parts: partsOf(pool, amount) };
    }
  }
}

/** What one claim is of its pool and of each pool above it, as `capacityOf` of the core has it. */
function partsIn({ pools, sizes }: Pick<Past, "pools" | "sizes">) {
  const specs = new Map(pools.map((spec): [string, PoolSpec] => [spec.name, spec]));
  const capacities = new Map(sizes.map(({ pool, capacity = {} }) => [pool, capacity]));
  const partsOf = (pool: string, amount: HistoryEntry["amount"]): Held["parts"] => {
    const parts: [string, number][] = Object.entries(amount ?? {}).map(([name, value]) => {
      return [`${pool} ${name}`, value / Math.max(1, capacities.get(pool)?.[name] ?? 0)];
    });
    for (let up = specs.get(pool); up !== undefined; up = specs.get(up.policy.parent ?? "")) {
      const { limit, dynamic, cluster, placement } = up.policy;
      if (placement !== undefined && limit === undefined) continue;
      const most = limit ?? Math.max(up.members.length, dynamic?.max ?? cluster?.max ?? 0);
      parts.push([up.name, 1 / Math.max(1, most)]);
    }
    return parts;
  };
  // A week has many claims of few pools.
  const whole = new Map(
    pools.map(({ name }): [string, Held["parts"]] => [name, partsOf(name, null)]),
  );
  return (pool: string, amount: HistoryEntry["amount"]) =>
    (amount === null ? whole.get(pool) : undefined) ?? partsOf(pool, amount);
}
