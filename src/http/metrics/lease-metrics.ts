import { Counter, type Registry } from "prom-client";
import type { Broker } from "../../broker/broker.ts";
import type { DurableEvent, EventOf, Return } from "../../core/model/event.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { dirtyState, type Purpose, purposeOf } from "../../core/model/lifecycle.ts";
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
  readonly claims: readonly HeldClaim[];
}

interface HeldClaim {
  readonly id: ClaimId;
  readonly resource: ResourceName;
  readonly purpose: Purpose;
  readonly counts: PoolCounts;
}

/**
 * The counts of one pool. A histogram shows a pool from the first observation on. Cleaning is upkeep
 * and has its own counts: it is no grant, wait, hold or expiry.
 */
interface PoolCounts {
  readonly pool: PoolName;
  waited?: BucketCounts;
  held?: BucketCounts;
  cleaning?: BucketCounts;
  grants: number;
  expiries: number;
  failedCleanings: number;
}

interface ClaimEnd {
  readonly heldMs: number;
  readonly why: string;
  readonly back: Return | undefined;
}

/** Counts what is committed. It follows the journal, so it never counts what did not happen. */
export class LeaseMetrics {
  readonly #pools = new Map<PoolName, PoolCounts>();
  readonly #held = new Map<RequestId, Held>();
  readonly #waited: BucketHistogram;
  readonly #holds: BucketHistogram;
  readonly #cleanings: BucketHistogram;
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
    this.#cleanings = new BucketHistogram({
      name: "berth_cleaning_seconds",
      help: "From the start of a cleaning to its end, without those that failed",
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
    this.#countTotals(registry);
    void broker.read((state) => this.#begin(state));
    broker.listen({
      committed: ({ at, events }, state) => {
        this.#commits += 1;
        this.#batches.observe(events.length);
        for (const event of events) this.#count(event, at, state);
      },
    });
  }

  #countTotals(registry: Registry): void {
    const count = counters(registry);
    count("berth_grants_total", "Claims granted for use; cleaning does not count", "pool", () =>
      this.#read(({ grants }) => grants),
    );
    count(
      "berth_cleanings_failed_total",
      "Cleanings that failed, or whose cleaner was lost",
      "pool",
      () => this.#read(({ failedCleanings }) => failedCleanings),
    );
    count(
      "berth_expiries_total",
      "Claims taken back because no heartbeat came or a lifetime was over",
      "pool",
      () => this.#read(({ expiries }) => expiries),
    );
    count(
      "berth_leases_ended_total",
      "Leases by how they ended; those of cleaners do not count",
      "reason",
      () => this.#ends,
    );
    count(
      "berth_requests_left_total",
      "Requests that left the queue ungranted",
      "reason",
      () => this.#left,
    );
  }

  *#read(value: (counts: PoolCounts) => number): Generator<[string, number], void, undefined> {
    for (const [pool, counts] of this.#pools) yield [pool, value(counts)];
  }

  /** Leases that are older than this process end in it too. */
  #begin(state: State): void {
    for (const { id, grantedAt, claims } of state.leases.values()) {
      if (this.#held.has(id)) continue;
      const held = claims.map(({ id: claim, resource, purpose }) => ({
        ...{ id: claim, resource: resource.name, purpose },
        counts: this.#countsOf(resource.pool.name),
      }));
      this.#held.set(id, { at: grantedAt, claims: held });
    }
  }

  #count(event: DurableEvent, at: Instant, state: State): void {
    switch (event.type) {
      case "lease-granted":
        return this.#granted(event, at, state);
      case "claim-ended":
        return this.#claimEnded(event, at);
      case "lease-ended":
        return this.#leaseEnded(event, at);
      case "request-left":
        return increase(this.#left, event.why);
    }
  }

  #granted(event: EventOf<"lease-granted">, at: Instant, state: State): void {
    const queuedAt = state.leases.get(event.id)?.queuedAt ?? at;
    const claims: HeldClaim[] = [];
    for (const granted of event.claims) {
      const { id, resource } = granted;
      const pool = state.resources.get(resource)?.pool.name;
      if (pool === undefined) continue; // Given back and removed within the same commit.
      const counts = this.#countsOf(pool);
      const purpose = purposeOf(granted);
      claims.push({ id, resource, purpose, counts });
      if (purpose !== "use") continue;
      counts.grants += 1;
      counts.waited ??= this.#waited.series({ pool });
      counts.waited.observe((at - queuedAt) / 1_000);
    }
    this.#held.set(event.id, { at, claims });
  }

  #claimEnded({ id, claim: ended, why, back }: EventOf<"claim-ended">, at: Instant): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    const claims = held.claims.filter((claim) => claim.id !== ended);
    for (const claim of held.claims) {
      if (claim.id === ended) this.#ended(claim, { heldMs: at - held.at, why, back });
    }
    this.#held.set(id, { at: held.at, claims });
  }

  #leaseEnded({ id, why, back }: EventOf<"lease-ended">, at: Instant): void {
    const held = this.#held.get(id);
    this.#held.delete(id);
    const isUpkeep = held?.claims.some(({ purpose }) => purpose !== "use") ?? false;
    if (!isUpkeep) increase(this.#ends, why);
    for (const claim of held?.claims ?? []) {
      const returned = back.find(({ resource }) => resource === claim.resource);
      this.#ended(claim, { heldMs: at - (held?.at ?? at), why, back: returned });
    }
  }

  #ended({ purpose, counts }: HeldClaim, { heldMs, why, back }: ClaimEnd): void {
    const { pool } = counts;
    if (purpose === "use") {
      counts.held ??= this.#holds.series({ pool });
      counts.held.observe(heldMs / 1_000);
      if (why === "expired" || why === "lifetime") counts.expiries += 1;
    } else if (why !== "released" || (back?.failures ?? 0) > 0) counts.failedCleanings += 1;
    // A cleaner that is stopped leaves the resource dirty. It has neither cleaned nor failed.
    else if (back?.state !== dirtyState) {
      counts.cleaning ??= this.#cleanings.series({ pool });
      counts.cleaning.observe(heldMs / 1_000);
    }
  }

  #countsOf(pool: PoolName): PoolCounts {
    let counts = this.#pools.get(pool);
    if (counts === undefined) {
      counts = { pool, grants: 0, expiries: 0, failedCleanings: 0 };
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
