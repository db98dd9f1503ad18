import { Counter, type Registry } from "prom-client";
import type { Broker } from "../../broker/broker.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { ClaimId, PoolName, RequestId } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { type BucketCounts, BucketHistogram } from "./bucket-histogram.ts";

/** From an instant to a day: queues here are measured in hours. */
const secondsBuckets = [
  0.1, 1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400,
];
const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024, 4_096];

interface Held {
  readonly at: Instant;
  readonly claims: readonly { readonly id: ClaimId; readonly counts: PoolCounts }[];
}

/** What is counted of one pool. A histogram shows a pool from the first observation on. */
interface PoolCounts {
  readonly pool: PoolName;
  waited?: BucketCounts;
  held?: BucketCounts;
  grants: number;
  expiries: number;
}

/** Counts what is committed. It follows the journal, so it never counts what did not happen. */
export class LeaseMetrics {
  readonly #pools = new Map<PoolName, PoolCounts>();
  readonly #held = new Map<RequestId, Held>();
  readonly #waited: BucketHistogram;
  readonly #holds: BucketHistogram;
  readonly #ends = new Map<string, number>();
  readonly #left = new Map<string, number>();
  readonly #batches: BucketCounts;
  #commits = 0;

  constructor(broker: Broker, registry: Registry) {
    const registers = [registry];
    const seconds = { labelNames: ["pool"], registers, buckets: secondsBuckets };
    this.#waited = new BucketHistogram({
      name: "berth_wait_seconds",
      help: "From asking to the grant",
      ...seconds,
    });
    this.#holds = new BucketHistogram({
      name: "berth_hold_seconds",
      help: "From the grant to the end of a claim",
      ...seconds,
    });
    const commits = () => this.#commits;
    new Counter({
      name: "berth_journal_commits_total",
      help: "Durable commits",
      registers,
      collect() {
        this.reset();
        this.inc(commits());
      },
    });
    this.#batches = new BucketHistogram({
      name: "berth_journal_batch_events",
      help: "Events per commit",
      registers,
      buckets: batchBuckets,
    }).series();
    const count = counters(registry);
    count("berth_grants_total", "Claims granted", "pool", () => this.#read(({ grants }) => grants));
    count(
      "berth_expiries_total",
      "Claims taken back because no heartbeat came or a lifetime was over",
      "pool",
      () => this.#read(({ expiries }) => expiries),
    );
    count("berth_leases_ended_total", "Leases by how they ended", "reason", () => this.#ends);
    count(
      "berth_requests_left_total",
      "Requests that left the queue ungranted",
      "reason",
      () => this.#left,
    );
    void broker.read((state) => this.#begin(state));
    broker.listen({
      committed: ({ at, events }, state) => {
        this.#commits += 1;
        this.#batches.observe(events.length);
        for (const event of events) this.#count(event, at, state);
      },
    });
  }

  *#read(value: (counts: PoolCounts) => number): Generator<[string, number], void, undefined> {
    for (const [pool, counts] of this.#pools) yield [pool, value(counts)];
  }

  /** Leases that are older than this process end in it too. */
  #begin(state: State): void {
    for (const { id, grantedAt, claims } of state.leases.values()) {
      if (this.#held.has(id)) continue;
      const held = claims.map((claim) => ({
        id: claim.id,
        counts: this.#countsOf(claim.resource.pool.name),
      }));
      this.#held.set(id, { at: grantedAt, claims: held });
    }
  }

  #count(event: DurableEvent, at: Instant, state: State): void {
    switch (event.type) {
      case "lease-granted":
        return this.#granted(event, at, state);
      case "claim-ended": {
        const held = this.#held.get(event.id);
        if (held === undefined) return;
        this.#ended(
          { at: held.at, claims: held.claims.filter(({ id }) => id === event.claim) },
          at,
        );
        const claims = held.claims.filter(({ id }) => id !== event.claim);
        this.#held.set(event.id, { at: held.at, claims });
        return;
      }
      case "lease-ended": {
        increase(this.#ends, event.why);
        const held = this.#held.get(event.id);
        if (held === undefined) return;
        this.#held.delete(event.id);
        this.#ended(held, at);
        if (event.why !== "expired" && event.why !== "lifetime") return;
        for (const { counts } of held.claims) counts.expiries += 1;
        return;
      }
      case "request-left":
        return increase(this.#left, event.why);
    }
  }

  #granted(
    event: Extract<DurableEvent, { type: "lease-granted" }>,
    at: Instant,
    state: State,
  ): void {
    const queuedAt = state.leases.get(event.id)?.queuedAt ?? at;
    const claims: { id: ClaimId; counts: PoolCounts }[] = [];
    for (const { id, resource } of event.claims) {
      const pool = state.resources.get(resource)?.pool.name;
      if (pool === undefined) continue; // Given back and removed within the same commit.
      const counts = this.#countsOf(pool);
      counts.grants += 1;
      counts.waited ??= this.#waited.series({ pool });
      counts.waited.observe((at - queuedAt) / 1_000);
      claims.push({ id, counts });
    }
    this.#held.set(event.id, { at, claims });
  }

  #ended(held: Held, at: Instant): void {
    for (const { counts } of held.claims) {
      counts.held ??= this.#holds.series({ pool: counts.pool });
      counts.held.observe((at - held.at) / 1_000);
    }
  }

  #countsOf(pool: PoolName): PoolCounts {
    let counts = this.#pools.get(pool);
    if (counts === undefined) {
      counts = { pool, grants: 0, expiries: 0 };
      this.#pools.set(pool, counts);
    }
    return counts;
  }
}

/** Counters that are read at the scrape: counting by label costs more than a grant. */
export function counters(registry: Registry) {
  return (name: string, help: string, label: string, read: () => Iterable<[string, number]>) =>
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        this.reset();
        for (const [value, total] of read()) this.inc({ [label]: value }, total);
      },
    });
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
