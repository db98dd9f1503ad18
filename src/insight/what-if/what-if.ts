import { emptyState } from "../../core/apply/create.ts";
import { decide } from "../../core/decide/decide.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import type { Instant } from "../../core/model/time.ts";
import type { AskedItem, HistoryEntry, OpenEntry, PoolSize } from "../history/entry.ts";
import { HistoryFold } from "../history/fold.ts";
import type { StatsPart } from "../history/stats.ts";
import { reachOf } from "./affected-pools.ts";
import { type Demand, demandOf, type Recording } from "./demand.ts";
import { Replay } from "./replay.ts";
import { StatsByPool } from "./stats-by-pool.ts";

export interface WhatIf {
  readonly from: number;
  readonly to: number;
  /** All pools, as they would be. */
  readonly pools: readonly PoolSpec[];
  /**
   * Those that differ from what was. Only where this can be felt is the demand replayed and told of;
   * everywhere else what was recorded is what would have been. Absent: all of it.
   */
  readonly changed?: readonly string[];
}

export interface Comparison {
  /** Null: all that are told of together. */
  readonly pool: string | null;
  readonly recorded: StatsPart;
  readonly simulated: StatsPart;
}

export interface WhatIfReport {
  readonly from: number;
  readonly to: number;
  /** Requests that were replayed. */
  readonly requests: number;
  /** Those that no pool of this configuration could ever satisfy. */
  readonly refused: number;
  readonly total: Comparison;
  readonly pools: readonly Comparison[];
}

/** Said with every report: where the model ends. */
export const unknowns: readonly string[] = [
  "Demand is taken as it was: who would ask more because waits are shorter, or less because they are longer, is not known.",
  "Holds are taken as they were: jobs do not get slower or faster with the number of those that run beside them.",
  "Who gave up waiting is taken to have held for the pool's median, had it been served in time.",
  "Who was cut off at the end of a lifetime is taken to have wanted no more.",
  "Pools are as given for the whole time: drains, quarantines, cleaning and changes of the configuration on the way are not replayed.",
  "What still holds or waits at the end counts only as far as it has come.",
];

export interface WhatIfSource extends Recording {
  readonly sizes: Iterable<PoolSize>;
}

/** How many entries are read, or requests replayed, between two breaths. */
const breath = 500;

/** Yields the share that is done, from 0 to 1, and returns the report: the caller may pause it. */
export function* whatIf(
  { from: wanted, to, pools, changed }: WhatIf,
  source: WhatIfSource,
): Generator<number, WhatIfReport, undefined> {
  const ended: HistoryEntry[] = [];
  for (const entry of source.ended) if (ended.push(entry) % breath === 0) yield 0;
  const open = [...source.open];
  const sizes = [...source.sizes];
  // Before there was anything to lend, nothing was idle either.
  const from = Math.max(wanted, ...earliest(sizes));
  const demand = demandOf({ ended, open }, from, to);
  const counts = new Map(
    pools.map(({ name, members }): [string, number] => [name, members.length]),
  );
  const fits = ({ pool, count }: AskedItem) => (counts.get(pool) ?? -1) >= count;
  const known = demand.filter(({ items }) => items.every(fits));
  const reached = changed === undefined ? undefined : reachOf(changed, pools, known);
  const isReached = ({ pool }: { readonly pool: string }) => reached?.has(pool) ?? true;
  const toReplay = known.filter(({ items }) => items.some(isReached));
  const made = new StatsByPool(
    { from, to },
    yield* replayed(toReplay, {
      from,
      to,
      pools: pools.filter(({ name }) => isReached({ pool: name })),
    }),
  );
  const was = new StatsByPool(
    { from, to },
    {
      ended: ended.filter(isReached),
      open: open.filter(({ items }) => items.some(isReached)),
      sizes: sizes.filter(isReached),
    },
  );
  const names = new Set(toReplay.flatMap(({ items }) => items.map(({ pool }) => pool)));
  const comparison = (pool: string | null): Comparison => {
    return { pool, recorded: was.of(pool), simulated: made.of(pool) };
  };
  return {
    from,
    to,
    requests: toReplay.length,
    refused: demand.filter(({ items }) => items.some(isReached)).length - toReplay.length,
    total: comparison(null),
    pools: [...names].sort().map(comparison),
  };
}

function* replayed(demand: readonly Demand[], { from, to, pools }: WhatIf) {
  const state = emptyState();
  decide(state, { type: "configure", pools: pools.map(admittingAll) }, from as Instant);
  const fold = new HistoryFold();
  let seq = 1;
  const replay = new Replay(state, from, {
    happened: (at, events) => {
      fold.follow({ seq, at, events });
      seq += events.length;
    },
  });
  for (const [index, one] of demand.entries()) {
    if (one.askedAt > replay.now) replay.passTo(one.askedAt);
    replay.ask(one);
    if (index % breath === 0) yield index / demand.length;
  }
  replay.passTo(to);
  const byId = new Map(demand.map((one) => [one.id, one]));
  const asRecorded = <Entry extends HistoryEntry | OpenEntry>(entry: Entry): Entry => {
    const { askedAt = entry.askedAt, heldSince } = byId.get(entry.id) ?? {};
    // What was held when it began was granted long ago, and not at the beginning.
    const grantedAt = entry.grantedAt === from ? (heldSince ?? from) : entry.grantedAt;
    return { ...entry, askedAt, grantedAt };
  };
  const ended = fold.take().ended.map(asRecorded);
  const open = Array.from(fold.open.values(), asRecorded);
  const sizes = pools.map(({ name, members }) => ({ pool: name, at: from, size: members.length }));
  return { ended, open, sizes };
}

function earliest(sizes: readonly PoolSize[]): number[] {
  const [first] = sizes;
  return first === undefined ? [] : [sizes.reduce((at, size) => Math.min(at, size.at), first.at)];
}

/** What would have been said of a past that was not, nobody knows. */
function admittingAll(pool: PoolSpec): PoolSpec {
  const { admission: _, ...policy } = pool.policy;
  return { ...pool, policy };
}
