import { isPhase, type Phase } from "../../core/model/cluster.ts";
import type { DurableEvent, Return } from "../../core/model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import type { Lease, Resource } from "../../core/model/state.ts";
import { after, type Instant } from "../../core/model/time.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A cluster that has work, and for how long it has had it. */
export interface ClusterWork {
  readonly pool: PoolName;
  readonly phase: Phase;
  readonly ageMs: number;
}

/** No lease of a worker expires here. */
const ttlMs = 100 * 365 * 24 * 3_600_000;

const reached: Readonly<Record<Phase, string>> = {
  creating: "free",
  resuming: "free",
  stopping: "hibernated",
  destroying: "tombstone",
};

/**
 * Makes, wakes, stops and destroys clusters on a virtual clock. It begins at once and never fails;
 * `durationOf` is the time from the beginning of the phase, with the wait for a worker.
 */
export class VirtualProvisioner {
  readonly #clock: VirtualClock;
  readonly #durationOf: (work: ClusterWork) => number;
  #count = 0;

  /** An infinite duration: the work never ends. */
  constructor(clock: VirtualClock, durationOf: (work: ClusterWork) => number) {
    this.#clock = clock;
    this.#durationOf = durationOf;
  }

  /** Must be called with all events of the clock. */
  follow(event: DurableEvent): void {
    switch (event.type) {
      case "lease-granted":
        return this.#granted(this.#clock.state.leases.get(event.id));
      case "lease-ended":
        for (const back of event.back) this.#returned(back);
        return;
      case "claim-ended":
        return this.#returned(event.back);
      case "cluster-moved":
        return this.#take(event.resource, event.state);
      case "resource-added":
        if (event.cluster !== undefined) this.#take(event.resource, event.state ?? "");
    }
  }

  /** The work that exists at the start: with a worker, or without one yet. */
  begin(resources: Iterable<Resource>): void {
    for (const resource of resources) {
      if (resource.sharing === "shared" || resource.cluster === null) continue;
      const { claim, name, state, restsUntil } = resource;
      if (claim?.purpose === "provision") this.#granted(claim.lease);
      else if (claim === null) this.#take(name, state, restsUntil);
    }
  }

  #returned({ resource, state, restsUntil }: Return): void {
    this.#take(resource, state, restsUntil);
  }

  #take(name: ResourceName, state: string, at: Instant = this.#clock.now): void {
    const pool = this.#clock.state.resources.get(name)?.pool;
    if (!isPhase(state) || pool?.clusters == null) return;
    // Work that never ends is not begun: its time limit would break one cluster after the other.
    const durationMs = this.#durationOf({ pool: pool.name, phase: state, ageMs: 0 });
    if (!Number.isFinite(durationMs)) return;
    this.#count += 1;
    const id = `work ${this.#count}` as RequestId;
    const items = [{ pool: pool.name, count: 1, state, into: state }];
    const from = Number.isFinite(at) ? at : this.#clock.now;
    const ask = { holder: "provisioner", items, ttlMs };
    this.#clock.plan(from, { type: "acquire", id, ask, waitMs: 0, nowOnly: true });
  }

  #granted(lease: Lease | undefined): void {
    const [claim] = lease?.claims ?? [];
    if (lease === undefined || claim?.purpose !== "provision" || claim.amount !== null) return;
    const { cluster, pool, state: phase } = claim.resource;
    if (cluster === null || !isPhase(phase)) return;
    const ageMs = this.#clock.now - cluster.since;
    const restMs = this.#durationOf({ pool: pool.name, phase, ageMs }) - ageMs;
    if (!Number.isFinite(restMs)) return;
    const release = { type: "release", id: lease.id, state: reached[phase] } as const;
    this.#clock.plan(after(this.#clock.now, Math.max(0, restMs)), release);
  }
}
