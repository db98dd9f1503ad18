/** What the stats thread is asked, and what it answers. */
import type { Forecast } from "./forecast/estimate.ts";
import type { ForecastInput } from "./forecast/estimates.ts";
import { HistoryUnavailable } from "./history/history.ts";
import type { HistoryFilter, HistoryPage } from "./history/reader.ts";
import type { Stats, StatsRange } from "./history/stats.ts";
import type { WhatIf, WhatIfReport } from "./what-if/what-if.ts";

export interface PageQuery {
  readonly filter: HistoryFilter;
  readonly limit: number;
  readonly after?: string | undefined;
}

export interface StatsQuery {
  readonly range: StatsRange;
  readonly pool?: string | undefined;
}

export interface SimulateQuery {
  readonly whatIf: WhatIf;
  /** More than so many entries are not replayed. */
  readonly entriesMax: number;
}

/** Each kind of query with its question and its answer. */
export interface StatsQueries {
  page: { question: PageQuery; answer: HistoryPage };
  stats: { question: StatsQuery; answer: Stats };
  simulate: { question: SimulateQuery; answer: WhatIfReport };
  estimate: { question: ForecastInput; answer: readonly Forecast[] };
}

export type QueryKind = keyof StatsQueries;

/** Of what takes long: nobody may want it any more, and somebody may want to know how far it is. */
export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** From 0 to 1. */
  readonly progress?: ((share: number) => void) | undefined;
}

/** More happened in that time than is looked at in one go. */
export class TooMuchHistory extends Error {
  override readonly name = "TooMuchHistory";
}

/** Those of our errors that a caller tells apart. */
const errorClasses = { TooMuchHistory, HistoryUnavailable } as const;

/**
 * An error on its way between threads. Structured cloning keeps its message, its stack and the
 * classes of Node; ours would arrive as a plain `Error`, so the name of the class travels beside it.
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
