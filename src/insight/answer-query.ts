import { setImmediate } from "node:timers/promises";
import { JournalUnavailable, JournalUnusable } from "../journal/journal.ts";
import { sqliteFailure } from "../journal/sqlite-failure.ts";
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

/**
 * Opens the history only for queries that need it: estimates work even if history is not readable.
 */
type OpenReader = () => HistoryReader;

/**
 * Answers on the thread of the caller. Rejects with `HistoryUnavailable` if the file is damaged.
 */
export async function answerQuery<Kind extends QueryKind>(
  openReader: OpenReader,
  kind: Kind,
  question: StatsQueries[Kind]["question"],
  options: QueryOptions = {},
): Promise<StatsQueries[Kind]["answer"]> {
  try {
    return await answers[kind](openReader, question, options);
  } catch (error) {
    throw inWords(error);
  }
}

function inWords(error: unknown): unknown {
  const failure = sqliteFailure(error, "read", "history");
  const unreadable = failure instanceof JournalUnusable || failure instanceof JournalUnavailable;
  return unreadable ? new HistoryUnavailable(failure.message, { cause: error }) : error;
}

type Answers = {
  readonly [Kind in QueryKind]: (
    openReader: OpenReader,
    question: StatsQueries[Kind]["question"],
    options: QueryOptions,
  ) => Promise<StatsQueries[Kind]["answer"]> | StatsQueries[Kind]["answer"];
};

const answers: Answers = {
  page: (openReader, { filter, limit, after }) => openReader().page(filter, limit, after),
  stats: (openReader, { range, pool }) => openReader().stats(range, pool),
  simulate: (openReader, question, options) => simulate(openReader(), question, options),
  estimate: (_, { parts, samples, now, seed }) =>
    parts.flatMap((part, index) => estimate(part, samples, now, seed + index)),
};

/** Runs in slices, so that short queries are answered in between. */
async function simulate(
  reader: HistoryReader,
  { whatIf: what, entriesMax }: SimulateQuery,
  { signal, progress }: QueryOptions,
): Promise<WhatIfReport> {
  const run = whatIf(what, {
    ended: atMost(entriesMax, endedWithin(reader, what)),
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
