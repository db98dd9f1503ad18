/** Runs days of traffic through a real broker on a virtual clock, and keeps the history. */
import { settled } from "../../broker/hand-clock.suite.ts";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import type { Tenancy } from "../../core/decide/configure.ts";
import { clean, leave, release, revoke } from "../../core/decide/lending.suite.ts";
import type { Ask, Command } from "../../core/model/command.ts";
import type { RequestId, SpaceName } from "../../core/model/ids.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { HistoryFollower } from "../history/follower.ts";
import { HistoryReader } from "../history/reader.ts";
import { HistoryStore } from "../history/store.ts";
import type { Demand } from "./demand.ts";
import { type WhatIf, type WhatIfReport, whatIf } from "./what-if.ts";

export interface Recorded extends AsyncDisposable {
  readonly reader: HistoryReader;
  readonly start: number;
  readonly end: number;
}

/** Cleans the dirty resources of a pool, as the server's janitor does. */
export interface TestJanitor {
  readonly pool: string;
  readonly parallel: number;
  /** The result and the duration of the next cleaning. */
  next(): { readonly durationMs: number; readonly failure?: string };
}

/**
 * Each job sends its request and its release at its own time. The recording ends some time after
 * the last one.
 */
export async function record(
  pools: readonly PoolSpec[],
  jobs: readonly Demand[],
  lastMs = 1_000,
  janitor?: TestJanitor,
  tenancy: Tenancy = {},
): Promise<Recorded> {
  const site = await brokerOf(pools);
  await site.broker.submit({ type: "configure", pools, ...tenancy });
  const store = HistoryStore.inMemory();
  const follower = new HistoryFollower(store, site.journal, site.broker);
  const start = site.clock.now();
  if (janitor !== undefined) cleanWhenDirty(site, janitor);
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

const dayMs = 86_400_000;

/** A holder that dies sends no heartbeat, so its lease expires. */
function commandOf({ id, items, priority, space, group, ends }: Demand): Command {
  const ttlMs = ends.find(({ forced }) => forced)?.afterMs ?? dayMs;
  const ask: Ask = {
    ...{ holder: `job-${id}`, items: items as Ask["items"], priority, ttlMs },
    ...(group === undefined ? undefined : { group }),
    ...(space === undefined ? undefined : { space: space as SpaceName }),
  };
  return { type: "acquire", id: id as RequestId, ask, waitMs: dayMs };
}

function giveBackOnGrant({ broker, clock }: TestBroker, jobs: ReadonlyMap<string, Demand>): void {
  broker.listen({
    committed: ({ at, events }) => {
      for (const event of events) {
        if (event.type !== "lease-granted") continue;
        for (const { claim, afterMs, forced, revoked, state } of jobs.get(event.id)?.ends ?? []) {
          if (forced) continue;
          const to = state === undefined ? undefined : { state };
          const released = release(event.id, {
            ...(claim === null ? undefined : { claim }),
            ...to,
          });
          const commands = revoked === undefined ? [released] : [revoke(event.id), released];
          clock.wakeAt((at + afterMs) as typeof at, () => {
            for (const command of commands) void broker.submit(command);
          });
        }
      }
    },
  });
}

/** Leases dirty resources after every commit, up to its limit of cleanings at a time. */
function cleanWhenDirty(
  { broker, clock }: TestBroker,
  { pool, parallel, next }: TestJanitor,
): void {
  let [running, count] = [0, 0];
  const start = async (): Promise<void> => {
    if (running >= parallel) return;
    running += 1;
    count += 1;
    const id = `clean${count}`;
    const outcome = await broker.submit(clean(id, pool));
    if (outcome.type !== "granted") {
      running -= 1;
      return;
    }
    const { durationMs, failure } = next();
    const why = failure === undefined ? undefined : { failure };
    clock.wakeAt((clock.now() + durationMs) as ReturnType<typeof clock.now>, () => {
      running -= 1;
      void broker.submit({ type: "release", id: id as RequestId, ...why });
    });
    await start();
  };
  broker.listen({ committed: () => void start() });
}

/** Replays a recording, from its beginning unless told otherwise. */
export function simulate(
  { reader, start, end }: Recorded,
  pools: readonly PoolSpec[],
  { from = start, ...more }: Partial<Omit<WhatIf, "to" | "pools">> = {},
): WhatIfReport {
  const source = {
    ...{ ended: reader.endedSince(from), open: reader.open(), sizes: reader.sizes() },
    ...{ upkeep: reader.upkeepSince(from), dirty: reader.dirty() },
  };
  const run = whatIf({ from, to: end, pools, ...more }, source);
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
  }
}
