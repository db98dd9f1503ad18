/** The cost of a grant in the core, for growing pools and queues. */

import { emptyState } from "../src/core/apply/create.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { Command } from "../src/core/model/command.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../src/core/model/ids.ts";
import { defaultPolicy } from "../src/core/model/policy.ts";
import type { State } from "../src/core/model/state.ts";
import type { Instant } from "../src/core/model/time.ts";
import { median } from "./process.ts";

export interface DecisionRow {
  readonly resources: number;
  readonly waiters: number;
  /** Absent: the requests have no space. */
  readonly spaces?: number;
  readonly microseconds: number;
  readonly ratio: number;
  /** Of a request that joins the queue, with its position. Absent: nobody waits. */
  readonly joining?: number;
}

const pool = "quota" as PoolName;
const grants = 20_000;
const rounds = 9;

interface Bench {
  readonly state: State;
  readonly waiters: number;
  readonly spaces: number;
  readonly held: RequestId[];
  next: number;
}

/** The cases take turns in each round, so that a slow moment of the machine affects all of them. */
export function benchDecisions(
  cases: readonly { resources: number; waiters: number; spaces?: number }[],
): DecisionRow[] {
  const benches = cases.map(({ resources, waiters, spaces = 0 }) => {
    return prepare(resources, waiters, spaces);
  });
  const times = cases.map((): number[] => []);
  const joining = cases.map((): number[] => []);
  for (const bench of benches) run(bench);
  for (let round = 0; round < rounds; round++) {
    for (const [index, bench] of benches.entries()) {
      const { joinMs, grantMs } = run(bench);
      times[index]?.push((grantMs * 1_000) / grants);
      joining[index]?.push((joinMs * 1_000) / grants);
    }
  }
  const base = times[0] ?? [];
  return cases.map((size, index) => {
    const own = times[index] ?? [];
    const ratios = own.map((time, round) => time / (base[round] ?? time));
    const joins = size.waiters > 0 ? { joining: median(joining[index] ?? []) } : undefined;
    return { ...size, microseconds: median(own), ratio: median(ratios), ...joins };
  });
}

function prepare(resources: number, waiters: number, spaces: number): Bench {
  const state = emptyState();
  const members = Array.from({ length: resources }, (_, index) => ({
    name: `quota-${index}` as ResourceName,
    labels: {},
  }));
  const bench: Bench = { state, waiters, spaces, held: [], next: 0 };
  submit(bench, { type: "configure", pools: [{ name: pool, policy: defaultPolicy, members }] });
  const taken = waiters > 0 ? resources : Math.floor(resources / 2);
  for (let count = 0; count < taken + waiters; count++) bench.held.push(acquire(bench));
  return bench;
}

/**
 * Makes grants. With an empty queue, a grant is an acquire and the release of an older lease. With
 * a long queue, it is a release that grants to the next request; the requests that join the queue
 * before are timed on their own.
 */
function run(bench: Bench): { readonly joinMs: number; readonly grantMs: number } {
  const joinedAt = performance.now();
  if (bench.waiters > 0)
    for (let grant = 0; grant < grants; grant++) bench.held.push(acquire(bench));
  const startedAt = performance.now();
  for (let grant = 0; grant < grants; grant++) {
    if (bench.waiters === 0) bench.held.push(acquire(bench));
    // With several spaces, requests are not granted in the order in which they came.
    const id = bench.spaces === 0 ? bench.held[grant] : bench.state.leases.keys().next().value;
    submit(bench, { type: "release", id: id as RequestId });
  }
  const grantMs = performance.now() - startedAt;
  bench.held.splice(0, grants);
  return { joinMs: startedAt - joinedAt, grantMs };
}

function acquire(bench: Bench): RequestId {
  const id = `r${bench.next++}` as RequestId;
  const space = `team-${bench.next % Math.max(1, bench.spaces)}` as SpaceName;
  submit(bench, {
    type: "acquire",
    id,
    ask: {
      holder: "bench/1",
      items: [{ pool, count: 1 }],
      ...(bench.spaces === 0 ? undefined : { space }),
    },
    waitMs: 0,
  });
  return id;
}

function submit({ state }: Bench, command: Command): void {
  decide(state, command, 1_000 as Instant);
}
