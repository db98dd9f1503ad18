import { setImmediate } from "node:timers/promises";
import { estimate } from "../estimate/estimate.ts";
import type { HistoryReader } from "../history/reader.ts";
import { type WhatIfReport, whatIf } from "../plan/what-if.ts";
import { type JobKind, type Jobs, type SimulateQuery, TooMuchHistory } from "./job.ts";

/** Does a job, on whatever thread it is called. */
export async function study<Kind extends JobKind>(
  reader: HistoryReader,
  kind: Kind,
  ask: Jobs[Kind]["ask"],
): Promise<Jobs[Kind]["answer"]> {
  return studies[kind](reader, ask);
}

type Studies = {
  readonly [Kind in JobKind]: (
    reader: HistoryReader,
    ask: Jobs[Kind]["ask"],
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
): Promise<WhatIfReport> {
  const run = whatIf(what, {
    ended: atMost(entriesMax, reader.endedSince(what.from)),
    open: reader.open(),
    sizes: reader.sizes(),
  });
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
    await setImmediate();
  }
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
