import { setImmediate } from "node:timers/promises";
import { estimate } from "./forecast/estimate.ts";
import type { HistoryReader } from "./history/reader.ts";
import {
  type JobKind,
  type JobOptions,
  type Jobs,
  type SimulateQuery,
  TooMuchHistory,
} from "./job.ts";
import { reachOf } from "./what-if/affected-pools.ts";
import { type WhatIf, type WhatIfReport, whatIf } from "./what-if/what-if.ts";

/** Does a job, on whatever thread it is called. */
export async function study<Kind extends JobKind>(
  reader: HistoryReader,
  kind: Kind,
  ask: Jobs[Kind]["ask"],
  options: JobOptions = {},
): Promise<Jobs[Kind]["answer"]> {
  return studies[kind](reader, ask, options);
}

type Studies = {
  readonly [Kind in JobKind]: (
    reader: HistoryReader,
    ask: Jobs[Kind]["ask"],
    options: JobOptions,
  ) => Promise<Jobs[Kind]["answer"]> | Jobs[Kind]["answer"];
};

const studies: Studies = {
  page: (reader, { filter, limit, after }) => reader.page(filter, limit, after),
  stats: (reader, { range, pool }) => reader.stats(range, pool),
  simulate,
  estimate: (_reader, { parts, holds, now, seed }) =>
    parts.flatMap((part, index) => estimate(part, holds, now, seed + index)),
};

/** In slices, so that whoever asks something short is answered in between. */
async function simulate(
  reader: HistoryReader,
  { whatIf: what, entriesMax }: SimulateQuery,
  { signal, progress }: JobOptions,
): Promise<WhatIfReport> {
  const run = whatIf(what, {
    ended: atMost(entriesMax, endedWithin(reader, what)),
    open: reader.open(),
    sizes: reader.sizes(),
  });
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
    progress?.(step.value);
    await setImmediate();
    signal?.throwIfAborted();
  }
}

/** Of a change to one pool of hundreds, only what it can reach is read. */
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
