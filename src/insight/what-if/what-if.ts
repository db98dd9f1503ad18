import { emptyState } from "../../core/apply/create.ts";
import type { Tenancy } from "../../core/decide/configure.ts";
import { decide } from "../../core/decide/decide.ts";
import { type DurableEvent, isDurable } from "../../core/model/event.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { anySpace, defaultSpacePolicy, type SpacePolicy } from "../../core/model/space.ts";
import type { Instant } from "../../core/model/time.ts";
import {
  type AskedItem,
  type HistoryEntry,
  type OpenEntry,
  type PoolSize,
  poolsOf,
} from "../history/entry.ts";
import { HistoryFold } from "../history/fold.ts";
import { reachOf } from "./affected-pools.ts";
import { CleaningTimes, type Occupied, type RecordedUpkeep } from "./cleaning-times.ts";
import { bySeniority, type Demand, demandOf, type Recording } from "./demand.ts";
import { elsewhere, isElsewhere } from "./elsewhere.ts";
import { limitsOf } from "./limits-of-pools.ts";
import { isLimitOnly, poolsBelow } from "./pools-below.ts";
import { releasedTo } from "./released-to.ts";
import { Replay } from "./replay.ts";
import { type ReplayedPart, StatsByPool } from "./stats-by-pool.ts";

export interface WhatIf {
  readonly from: number;
  readonly to: number;
  /** All pools in the simulated configuration. */
  readonly pools: readonly PoolSpec[];
  /**
   * The pools that differ from the recorded configuration. Only affected pools are replayed and
   * reported; for the others, the recording is the result. Absent: all pools.
   */
  readonly changed?: readonly string[];
  /** The pools of the recorded configuration. Absent: as far as is known, the same. */
  readonly inForce?: readonly PoolSpec[];
  /** The spaces and priorities of the simulated configuration. Absent: all requests are equal. */
  readonly tenancy?: Tenancy;
  /** Reports only the requests of this space. All are replayed. */
  readonly space?: string;
}

export interface Comparison {
  /** Null: all reported pools together. */
  readonly pool: string | null;
  readonly recorded: ReplayedPart;
  readonly simulated: ReplayedPart;
}

export interface WhatIfReport {
  readonly from: number;
  readonly to: number;
  /** The number of replayed requests. */
  readonly requests: number;
  /** The number of requests that no pool of this configuration could ever satisfy. */
  readonly refused: number;
  readonly total: Comparison;
  readonly pools: readonly Comparison[];
  /** The limits of the model, and of this recording. */
  readonly unknowns: readonly string[];
}

/** The limits of the model. Part of every report. */
const unknowns: readonly string[] = [
  "Demand stays as recorded: shorter waits cause no more requests, and longer waits no fewer.",
  "Hold times stay as recorded: jobs do not become slower or faster with the number of jobs that run at the same time.",
  "A request that left without a grant gets the median hold of its pool if the simulation grants it.",
  "A lease that ended at its lifetime is not assumed to last longer.",
  "The holder of a lease that an operator revoked is assumed to have confirmed it, so no lock-delay follows.",
  "A resource is dirty as long as it was after the same lease, however many are dirty at once; a cleaning that is not recorded takes the median of its pool.",
  "Pools have the given settings for the whole period: drains, quarantines of free resources and configuration changes are not replayed.",
  "Leases and requests that are open at the end count only up to the end.",
];

export interface WhatIfSource extends Recording, RecordedUpkeep {
  readonly sizes: Iterable<PoolSize>;
  /** What ended in any pool. Absent: `ended` has all of it, and not only what can be replayed. */
  readonly ofAllPools?: () => Iterable<HistoryEntry>;
}

/** The number of entries or requests between two yields. */
const sliceLength = 500;

/** Yields the share that is done, from 0 to 1, and returns the report. The caller may pause it. */
export function* whatIf(
  what: WhatIf,
  source: WhatIfSource,
): Generator<number, WhatIfReport, undefined> {
  const { from: earliestFrom, to, pools, changed, inForce = pools } = what;
  const ended: HistoryEntry[] = [];
  for (const entry of source.ended) if (ended.push(entry) % sliceLength === 0) yield 0;
  const open = [...source.open];
  const shared = new Set(pools.filter(isSharedPool).map(({ name }): string => name));
  const sizes = sizesOf(source, shared);
  // Before the first resource existed, nothing was idle.
  const from = Math.max(earliestFrom, ...earliest(sizes));
  const reached =
    changed === undefined ? undefined : reachOf(changed, pools, [...open, ...asked(ended)]);
  const isReached = ({ pool }: { readonly pool: string }) => reached?.has(pool) ?? true;
  const demand = demandOf({ ended, open }, from, to)
    .filter(({ items }) => items.some(isReached))
    .map(heldIn(pools));
  const fits = fitsIn(pools);
  const fitting = demand.filter(({ items }) => items.every(fits));
  const toReplay = fitting.filter(({ items }) => items.every((item) => hasAmount(item, shared)));
  const times = new CleaningTimes(source, ended, to);
  const tenancy = tenancyOf(what.tenancy, toReplay);
  const others = yield* elsewhere({
    ...{ from, to, open, sizes, reached, pools: inForce },
    ended: source.ofAllPools ?? (() => ended),
    ...turnsIn(tenancy, toReplay),
  });
  const wanted = [...toReplay.map(releasedTo(inForce, times)), ...others.demand].sort(bySeniority);
  const simulated = yield* replayed(wanted, times, {
    from,
    to,
    pools: [...pools.filter(({ name }) => isReached({ pool: name })), ...others.pools],
    tenancy,
  });
  const isReported = ({ space }: { readonly space?: string }) =>
    what.space === undefined || space === what.space;
  const unfit = demand.filter(({ items }) => !items.every(fits));
  const refused = [...unfit, ...simulated.refused];
  const made = new StatsByPool(
    { from, to },
    {
      ...simulated,
      ended: simulated.ended.filter(isReported),
      open: simulated.open.filter(isReported),
      refused: refused
        .filter((one) => one.heldSince === undefined && isReported(one))
        .flatMap(({ items }) => items),
    },
  );
  const recorded = {
    ended: ended.filter((entry) => isReached(entry) && isReported(entry)),
    open: open.filter((one) => one.items.some(isReached) && isReported(one)),
    refused: [],
  };
  const was = new StatsByPool({ from, to }, { ...recorded, sizes: sizes.filter(isReached) });
  const names = new Set(demand.flatMap(({ items }) => items.flatMap(poolsOf)));
  const reported = pools.filter(({ name }) => names.has(name) && isReached({ pool: name }));
  return {
    from,
    to,
    requests: toReplay.length - simulated.refused.length,
    refused: refused.length,
    total: { pool: null, recorded: was.of(null), simulated: made.of(null) },
    pools: comparisons({ was, made }, reported, { pools, inForce }),
    unknowns: [
      ...unknowns,
      ...withoutAmounts(fitting.length - toReplay.length),
      ...sharesOf(tenancy, others.isTooMuch ?? false),
      ...limitsOf(reported, ended, times),
    ],
  };
}

function sizesOf(source: WhatIfSource, shared: ReadonlySet<string>): PoolSize[] {
  return Array.from(source.sizes, (size) => {
    return shared.has(size.pool) ? { capacity: {}, ...size } : size;
  });
}

/** The spaces whose shares decide about turns. */
function turnsIn(tenancy: Tenancy | undefined, demand: readonly Demand[]) {
  const spaces = new Set(tenancy === undefined ? [] : demand.flatMap(({ space }) => space ?? []));
  const { spaces: named = [], others } = tenancy?.spaces ?? {};
  const policies = [...named.map(({ policy }) => policy), ...(others ? [others] : [])];
  const lifetimes = policies.flatMap(({ lifetimeMs }) => lifetimeMs ?? []);
  return { spaces, lifetimeMs: Math.min(Number.POSITIVE_INFINITY, ...lifetimes) };
}

/** By pool, in the order of their names; also of each limit that pools of these are below. */
function comparisons(
  { was, made }: { readonly was: StatsByPool; readonly made: StatsByPool },
  reported: readonly PoolSpec[],
  {
    pools,
    inForce,
  }: { readonly pools: readonly PoolSpec[]; readonly inForce: readonly PoolSpec[] },
): Comparison[] {
  const limits = pools.filter(isLimitOnly).flatMap(({ name, policy: { limit = 0 } }) => {
    const below = poolsBelow(name, pools);
    if (!reported.some((pool) => below.has(pool.name))) return [];
    const before = inForce.find((pool) => pool.name === name)?.policy.limit ?? limit;
    const recorded = was.ofLimit(name, below, before);
    return [{ pool: name, recorded, simulated: made.ofLimit(name, below, limit) }];
  });
  const lenders = reported.map(({ name }) => {
    return { pool: name, recorded: was.of(name), simulated: made.of(name) };
  });
  return [...lenders, ...limits].sort((a, b) => (a.pool < b.pool ? -1 : 1));
}

/**
 * A lease that is held at the start takes another resource, if this configuration does not have the
 * one that it held.
 */
function heldIn(pools: readonly PoolSpec[]): (demand: Demand) => Demand {
  const known = new Set(
    pools.flatMap(({ name: pool, members }) => members.map(({ name }) => `${pool} ${name}`)),
  );
  return (demand) => {
    if (demand.heldSince === undefined) return demand;
    const items = demand.items.map(({ resource, ...item }) => {
      const isKnown = resource !== undefined && known.has(`${item.pool} ${resource}`);
      return isKnown ? { ...item, resource } : item;
    });
    return { ...demand, items };
  };
}

function isSharedPool({ policy }: PoolSpec): boolean {
  return policy.placement !== undefined;
}

/** Only the fields of requests that tie pools together. */
function* asked(ended: readonly HistoryEntry[]) {
  for (const parts of Map.groupBy(ended, ({ id }) => id).values()) {
    const [first] = parts;
    yield first?.asked ?? { items: parts };
  }
}

/** Whether a pool of this configuration has as many resources, or may make them. */
function fitsIn(pools: readonly PoolSpec[]): (item: AskedItem) => boolean {
  const counts = new Map(
    pools.map(({ name, members, policy: { dynamic, cluster } }): [string, number] => {
      const clusters = cluster && (cluster.max ?? Number.POSITIVE_INFINITY);
      return [name, clusters ?? Math.max(members.length, dynamic?.max ?? 0)];
    }),
  );
  return (item) => poolsOf(item).some((pool) => (counts.get(pool) ?? -1) >= item.count);
}

function hasAmount(item: AskedItem, shared: ReadonlySet<string>): boolean {
  return item.amount !== undefined || !poolsOf(item).some((pool) => shared.has(pool));
}

function withoutAmounts(count: number): string[] {
  if (count === 0) return [];
  return [
    `${count} requests for shared resources are left out: an older Berth recorded them without amounts.`,
  ];
}

interface Replayed extends Pick<WhatIf, "from" | "to" | "pools"> {
  /** Undefined: there is only one space, so the order is that of the arrival. */
  readonly tenancy: Tenancy | undefined;
}

function* replayed(
  demand: readonly Demand[],
  times: CleaningTimes,
  { from, to, pools, tenancy }: Replayed,
) {
  const state = emptyState();
  const fold = new HistoryFold();
  let seq = 1;
  const happened = (at: Instant, events: readonly DurableEvent[]) => {
    fold.follow({ seq, at, events });
    seq += events.length;
  };
  const configure = { type: "configure" as const, pools: pools.map(admittingAll), ...tenancy };
  const { events } = decide(state, configure, from as Instant);
  happened(from as Instant, events.filter(isDurable));
  const cleaningMs = (pool: string, lease: string | null, claim: string | null) =>
    times.after(lease ?? "", claim ?? "") ?? times.usualMs(pool);
  const replay = new Replay(state, from, { happened, cleaningMs });
  for (const one of occupied(demand, times, { from, pools })) replay.occupy(one);
  replay.passTo(from);
  const refused: Demand[] = [];
  for (const [index, one] of demand.entries()) {
    if (one.askedAt > replay.now) replay.passTo(one.askedAt);
    const { space: _, ...alone } = one;
    if (!replay.ask(tenancy === undefined ? alone : one)) refused.push(one);
    if (index % sliceLength === 0) yield index / demand.length;
  }
  replay.passTo(to);
  const byId = new Map(demand.map((one) => [one.id, one]));
  const asRecorded = <Entry extends HistoryEntry | OpenEntry>(entry: Entry): Entry => {
    const { askedAt = entry.askedAt, heldSince } = byId.get(entry.id) ?? {};
    // A lease that was held at the beginning was granted earlier, not at the beginning.
    const grantedAt = entry.grantedAt === from ? (heldSince ?? from) : entry.grantedAt;
    return { ...entry, askedAt, grantedAt };
  };
  const changes = fold.take();
  const isOwn = (one: { readonly pool: string }) => !isElsewhere(one);
  const ended = changes.ended.filter(isOwn).map(asRecorded);
  const open = Array.from(fold.open.values())
    .filter(({ items }) => items.every(isOwn))
    .map(asRecorded);
  return { ended, open, sizes: [...changes.sizes.values()].filter(isOwn), refused };
}

/** Resources that are dirty, but not because of a replayed lease. Dynamic ones are made again. */
function* occupied(
  demand: readonly Demand[],
  times: CleaningTimes,
  { from, pools }: Pick<WhatIf, "from" | "pools">,
): Generator<Occupied, void, undefined> {
  const listed = new Set(
    pools.filter(({ policy }) => policy.dynamic === undefined).map(({ name }): string => name),
  );
  const ids = new Set(demand.map(({ id }) => id));
  for (const one of times.notAfter(ids, from)) if (listed.has(one.pool)) yield one;
}

function earliest(sizes: readonly PoolSize[]): number[] {
  const [first] = sizes;
  return first === undefined ? [] : [sizes.reduce((at, size) => Math.min(at, size.at), first.at)];
}

/** The results of admission checks in a simulated past are unknown, so every check passes. */
function admittingAll(pool: PoolSpec): PoolSpec {
  const { admission: _, cluster, ...policy } = pool.policy;
  if (cluster === undefined) return { ...pool, policy };
  // Nothing probes hubs here.
  const { hubs: __, ...anywhere } = cluster;
  return { ...pool, policy: { ...policy, cluster: anywhere } };
}

/**
 * Rules that decide whether a request may be sent are left out: these requests were sent. What spaces
 * share, and who of them is next, is decided again.
 */
function tenancyOf(tenancy: Tenancy | undefined, demand: readonly Demand[]): Tenancy | undefined {
  const { spaces = anySpace, priorities } = tenancy ?? {};
  const names = new Set(demand.map(({ space }) => space));
  const ageing = priorities?.ageing ?? null;
  if (names.size < 2 && spaces.spaces.length === 0 && ageing === null) return undefined;
  return {
    ...(priorities === undefined ? undefined : { priorities }),
    spaces: {
      spaces: spaces.spaces.map(({ name, policy }) => ({ name, policy: sharingOf(policy) })),
      others: sharingOf(spaces.others ?? defaultSpacePolicy),
    },
  };
}

function sharingOf({ pools: _, waitingMax: __, priorityMax: ___, ...policy }: SpacePolicy) {
  return policy;
}

function sharesOf(tenancy: Tenancy | undefined, isTooMuch: boolean): string[] {
  if (tenancy === undefined) return [];
  const others = isTooMuch
    ? "Shares count only the replayed pools: too many leases of others ended in this time"
    : "Shares count what spaces held of the other pools as it was recorded";
  return [
    `${others}. Quotas of cost count only the replayed pools.`,
    "Priorities that an operator changed are replayed as they were asked.",
  ];
}
