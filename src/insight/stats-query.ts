/** The queries to the stats thread, and its answers. */
import { AuditUnavailable } from "./audit/audit.ts";
import type { AuditPage, AuditSearch } from "./audit/reader.ts";
import type { EventPage, EventSearch } from "./event-search.ts";
import type { Forecast } from "./forecast/estimate.ts";
import type { ForecastInput } from "./forecast/estimates.ts";
import type { CostQuery, CostSum } from "./history/costs.ts";
import { HistoryUnavailable } from "./history/history.ts";
import type {
  Asker,
  HistoryFilter,
  HistoryPage,
  LimitedPools,
  RecordedStats,
} from "./history/reader.ts";
import type { PoolSamples, SampleTimes } from "./history/samples.ts";
import type { StatsPart, StatsRange } from "./history/stats.ts";
import type { UsualWait } from "./history/usual-waits.ts";
import type { WhatIf, WhatIfReport } from "./what-if/what-if.ts";

export interface PageQuery {
  readonly filter: HistoryFilter;
  readonly limit: number;
  readonly after?: string | undefined;
}

export interface StatsQuery {
  readonly range: StatsRange;
  readonly pool?: string | undefined;
  /** If the pool is only a limit. */
  readonly limited?: LimitedPools | undefined;
}

export interface SimulateQuery {
  readonly whatIf: WhatIf;
  /** The limit of entries to replay. */
  readonly entriesMax: number;
}

/** Each kind of query with its input and its output. */
export interface StatsQueries {
  page: { question: PageQuery; answer: HistoryPage };
  stats: { question: StatsQuery; answer: RecordedStats };
  statsByPool: { question: StatsRange; answer: ReadonlyMap<string, StatsPart> };
  costs: { question: CostQuery; answer: readonly CostSum[] };
  waits: {
    question: { readonly since: number; readonly now: number };
    answer: readonly UsualWait[];
  };
  samples: { question: SampleTimes; answer: readonly PoolSamples[] };
  events: { question: EventSearch; answer: EventPage };
  /** Who made these requests. */
  askers: { question: readonly string[]; answer: ReadonlyMap<string, Asker> };
  /** The resources that a pool has now. */
  members: { question: string; answer: ReadonlySet<string> };
  simulate: { question: SimulateQuery; answer: WhatIfReport };
  audit: { question: AuditSearch; answer: AuditPage };
  estimate: { question: ForecastInput; answer: readonly Forecast[] };
}

export type QueryKind = keyof StatsQueries;

/** Options of a long query: it can be aborted, and it reports its progress. */
export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** From 0 to 1. */
  readonly progress?: ((share: number) => void) | undefined;
}

/** The period has more entries than one query may read. */
export class TooMuchHistory extends Error {
  override readonly name = "TooMuchHistory";
}

/** Our error classes that callers distinguish. */
const errorClasses = { TooMuchHistory, HistoryUnavailable, AuditUnavailable } as const;

/**
 * An error that is sent between threads. Structured cloning keeps the message, the stack and Node's
 * own classes. Our classes would arrive as a plain `Error`, so the class name is sent with it.
 */
export interface SentError {
  readonly error: unknown;
  readonly className?: keyof typeof errorClasses;
}

export function sentError(error: unknown): SentError {
  for (const className of Object.keys(errorClasses) as (keyof typeof errorClasses)[]) {
    if (error instanceof errorClasses[className]) return { error, className };
  }
  return { error };
}

export function receivedError({ error, className }: SentError): unknown {
  if (className === undefined) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new errorClasses[className](message, { cause: error });
}
