import { setImmediate } from "node:timers/promises";
import { type Journal, JournalUnavailable, JournalUnusable } from "../journal/journal.ts";
import { sqliteFailure } from "../journal/sqlite-failure.ts";
import { AuditUnavailable } from "./audit/audit.ts";
import type { AuditReader } from "./audit/reader.ts";
import { type EventPage, findEvents, withHolders } from "./event-search.ts";
import { estimate } from "./forecast/estimate.ts";
import { HistoryUnavailable } from "./history/history.ts";
import type { HistoryReader } from "./history/reader.ts";
import {
  type QueryKind,
  type QueryOptions,
  type SimulateQuery,
  type StatsQueries,
  TooMuchHistory,
} from "./stats-query.ts";
import { reachOf } from "./what-if/affected-pools.ts";
import { type WhatIf, type WhatIfReport, whatIf } from "./what-if/what-if.ts";

type JournalSearch = (journal: Pick<Journal, "search">) => Promise<EventPage>;

/**
 * Opens the files only for queries that need them: estimates work even if history is not readable.
 */
export interface Sources {
  readonly history: () => HistoryReader;
  readonly audit: () => AuditReader;
  /** The journal is open only while it is searched. */
  readonly journal: (search: JournalSearch) => Promise<EventPage>;
}

/**
 * Answers on the thread of the caller. Rejects with `HistoryUnavailable` if the file is damaged.
 */
export async function answerQuery<Kind extends QueryKind>(
  sources: Sources,
  kind: Kind,
  question: StatsQueries[Kind]["question"],
  options: QueryOptions = {},
): Promise<StatsQueries[Kind]["answer"]> {
  try {
    return await answers[kind](sources, question, options);
  } catch (error) {
    throw inWords(error, kind === "audit" ? AuditUnavailable : HistoryUnavailable);
  }
}

function inWords(
  error: unknown,
  Unavailable: typeof AuditUnavailable | typeof HistoryUnavailable,
): unknown {
  const failure = sqliteFailure(error, "read", "its file");
  const unreadable = failure instanceof JournalUnusable || failure instanceof JournalUnavailable;
  return unreadable ? new Unavailable(failure.message, { cause: error }) : error;
}

type Answers = {
  readonly [Kind in QueryKind]: (
    sources: Sources,
    question: StatsQueries[Kind]["question"],
    options: QueryOptions,
  ) => Promise<StatsQueries[Kind]["answer"]> | StatsQueries[Kind]["answer"];
};

const answers: Answers = {
  page: ({ history }, { filter, limit, after }) => history().page(filter, limit, after),
  stats: ({ history }, { range, pool, limited }) =>
    pool === undefined || limited === undefined
      ? history().stats(range, pool)
      : history().limitStats(range, pool, limited),
  statsByPool: ({ history }, range) => history().statsByPool(range),
  costs: ({ history }, query) => history().costs(query),
  waits: ({ history }, { since, now }) => history().usualWaits(since, now),
  samples: ({ history }, times) => history().samples(times),
  events: async ({ history, journal }, search, { signal }) => {
    const { id } = search.filter;
    const firstSeq = id === undefined ? undefined : history().firstSeqOf(id);
    const known = {
      askersOf: (ids: readonly string[]) => history().askersOf(ids),
      membersOf: (pool: string) => history().membersOf(pool),
    };
    const page = await journal((open) => findEvents(open, search, known, { firstSeq, signal }));
    return await withHolders(page, known);
  },
  askers: ({ history }, ids) => history().askersOf(ids),
  members: ({ history }, pool) => history().membersOf(pool),
  audit: ({ audit }, search) => audit().page(search),
  simulate: ({ history }, question, options) => simulate(history(), question, options),
  estimate: (_, { part, samples, now, seed }) => estimate(part, samples, now, seed),
};

/** Runs in slices, so that short queries are answered in between. */
async function simulate(
  reader: HistoryReader,
  { whatIf: what, entriesMax }: SimulateQuery,
  { signal, progress }: QueryOptions,
): Promise<WhatIfReport> {
  const run = whatIf(what, {
    ended: atMost(entriesMax, endedWithin(reader, what)),
    ofAllPools: () => reader.endedSince(what.from),
    open: reader.open(),
    sizes: reader.sizes(),
    upkeep: reader.upkeepSince(what.from),
    dirty: reader.dirty(),
  });
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
    progress?.(step.value);
    await setImmediate();
    signal?.throwIfAborted();
  }
}

/** If one pool of hundreds changes, only the pools that it can affect are read. */
function* endedWithin(reader: HistoryReader, { from, changed, pools }: WhatIf) {
  if (changed === undefined) return yield* reader.endedSince(from);
  const together = [...reader.companies(from)].map((names) => ({
    items: names.map((pool) => ({ pool })),
  }));
  const reached = reachOf(changed, pools, [...together, ...reader.open()]);
  for (const pool of reached) yield* reader.endedSince(from, pool);
}

function* atMost<Part>(max: number, parts: Iterable<Part>): Generator<Part, void, undefined> {
  let count = 0;
  for (const part of parts) {
    count += 1;
    if (count > max) {
      throw new TooMuchHistory(`Cannot simulate: more than ${max} claims ended in this time`);
    }
    yield part;
  }
}
