/** Runs days of traffic through a real broker on a virtual clock, and keeps the history. */
import { settled } from "../../broker/hand-clock.suite.ts";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import { leave, release, revoke } from "../../core/decide/lending.suite.ts";
import type { Ask, Command } from "../../core/model/command.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { HistoryFollower } from "../history/follower.ts";
import { HistoryReader } from "../history/reader.ts";
import { HistoryStore } from "../history/store.ts";
import type { Demand } from "./demand.ts";
import { type WhatIfReport, whatIf } from "./what-if.ts";

export interface Recorded extends AsyncDisposable {
  readonly reader: HistoryReader;
  readonly start: number;
  readonly end: number;
}

/**
 * Each job sends its request and its release at its own time. The recording ends some time after
 * the last one.
 */
export async function record(
  pools: readonly PoolSpec[],
  jobs: readonly Demand[],
  lastMs = 1_000,
): Promise<Recorded> {
  const site = await brokerOf(pools);
  const store = HistoryStore.inMemory();
  const follower = new HistoryFollower(store, site.journal, site.broker);
  const start = site.clock.now();
  giveBackOnGrant(site, new Map(jobs.map((job) => [job.id, job])));
  for (const job of jobs) {
    await site.clock.advance(start + job.askedAt - site.clock.now());
    void site.broker.submit(commandOf(job));
    const { patienceMs } = job;
    if (patienceMs !== null) {
      const at = (site.clock.now() + patienceMs) as typeof start;
      site.clock.wakeAt(at, () => void site.broker.submit(leave(job.id)));
    }
    await settled();
  }
  await site.clock.advance(lastMs);
  await follower.caughtUp();
  return {
    reader: new HistoryReader(store.database),
    start,
    end: site.clock.now(),
    async [Symbol.asyncDispose]() {
      await follower.close();
      await site.broker.close();
    },
  };
}

function commandOf({ id, items, priority, group }: Demand): Command {
  const ask: Ask = {
    ...{ holder: `job-${id}`, items: items as Ask["items"], priority, ttlMs: 86_400_000 },
    ...(group === undefined ? undefined : { group }),
  };
  return { type: "acquire", id: id as RequestId, ask, waitMs: 0 };
}

function giveBackOnGrant({ broker, clock }: TestBroker, jobs: ReadonlyMap<string, Demand>): void {
  broker.listen({
    committed: ({ at, events }) => {
      for (const event of events) {
        if (event.type !== "lease-granted") continue;
        for (const { claim, afterMs, forced } of jobs.get(event.id)?.ends ?? []) {
          const command = forced
            ? revoke(event.id)
            : release(event.id, claim === null ? {} : { claim });
          clock.wakeAt((at + afterMs) as typeof at, () => void broker.submit(command));
        }
      }
    },
  });
}

/** Replays a recording, from its beginning unless told otherwise. */
export function simulate(
  { reader, start, end }: Recorded,
  pools: readonly PoolSpec[],
  { from = start, ...changed }: { from?: number; changed?: readonly string[] } = {},
): WhatIfReport {
  const source = { ended: reader.endedSince(from), open: reader.open(), sizes: reader.sizes() };
  const run = whatIf({ from, to: end, pools, ...changed }, source);
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
  }
}
