/** What the other thread is asked, and what it answers. */
import type { Forecast } from "./forecast/estimate.ts";
import type { Foreseeing } from "./forecast/estimates.ts";
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

/** Each kind of job with its question and its answer. */
export interface Jobs {
  page: { ask: PageQuery; answer: HistoryPage };
  stats: { ask: StatsQuery; answer: Stats };
  simulate: { ask: SimulateQuery; answer: WhatIfReport };
  estimate: { ask: Foreseeing; answer: readonly Forecast[] };
}

export type JobKind = keyof Jobs;

/** Of what takes long: nobody may want it any more, and somebody may want to know how far it is. */
export interface JobOptions {
  readonly signal?: AbortSignal | undefined;
  /** From 0 to 1. */
  readonly progress?: ((share: number) => void) | undefined;
}

/** The history in it spans more than is looked at in one go. */
export class TooMuchHistory extends Error {
  override readonly name = "TooMuchHistory";
}
