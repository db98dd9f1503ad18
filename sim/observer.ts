/**
 * Compares the replies that clients got with what was committed: no acknowledged lease is lost, and
 * two jobs never believe at the same time that they hold the same resource.
 */

import type { LeaseView } from "../src/core/explain/view.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import type { State } from "../src/core/model/state.ts";
import type { Random } from "../src/insight/forecast/random.ts";
import type { Recorded } from "../src/journal/journal.ts";
import { Ledger } from "./ledger.ts";
import { assertInvariant } from "./violation.ts";
import type { World } from "./world.ts";

interface Held {
  readonly job: string;
  readonly id: RequestId;
  readonly resources: Set<string>;
  believedUntilMs: number;
}

export class Observer {
  readonly ledger = new Ledger((id) => this.#acknowledged.has(id as RequestId));
  readonly #world: World;
  readonly #held = new Map<RequestId, Held>();
  readonly #acknowledged = new Map<RequestId, string>();
  readonly #givenBack = new Set<RequestId>();
  readonly #holders = new Map<RequestId, string>();
  /** Holder and resource. */
  readonly #releasedByName = new Set<string>();
  readonly #left = new Set<RequestId>();
  readonly #resourcesOf = new Map<RequestId, readonly string[]>();
  grants = 0;

  constructor(world: World) {
    this.#world = world;
  }

  committed({ at, events }: Recorded): void {
    for (const event of events) {
      this.ledger.record(event, at);
      if (event.type === "lease-granted") {
        this.grants += 1;
        assertInvariant(
          !this.#left.has(event.id),
          () => `${event.id} was granted after it had left`,
        );
        this.#resourcesOf.set(
          event.id,
          event.claims.map(({ resource }) => resource),
        );
        const { holder } = this.ledger.leases.get(event.id)?.ask ?? {};
        if (holder !== undefined) this.#holders.set(event.id, holder);
      }
      if (event.type === "claim-replaced") {
        const { resource } = event.granted;
        const known = this.#resourcesOf.get(event.id) ?? [];
        this.#resourcesOf.set(event.id, [...known, resource]);
        this.#held.get(event.id)?.resources.add(resource);
      }
      if (event.type === "lease-ended") this.#ended(event.id, event.why);
      if (event.type === "claim-ended")
        this.#held.get(event.id)?.resources.delete(event.back.resource);
    }
  }

  #ended(id: RequestId, why: string): void {
    const held = this.#held.get(id);
    if (why === "released") {
      const isKnown = this.#givenBack.has(id) || this.#isReleasedByName(id);
      assertInvariant(isKnown, () => `${id} was released by another client`);
    }
    if (why === "uncollected") {
      assertInvariant(
        held === undefined,
        () => `${id} was taken from ${held?.job}, which had fetched it`,
      );
    }
    if ((why === "expired" || why === "reset" || why === "revoked") && held !== undefined) {
      const early = held.believedUntilMs > this.#world.nowMs && !this.#givenBack.has(id);
      assertInvariant(!early, () => `${id} ended (${why}) while ${held.job} was alive`);
    }
    // A lifetime may end while the holder still works. The holder knows the time since the grant.
    if (why === "lifetime") this.#held.delete(id);
  }

  acknowledged(job: string, lease: LeaseView): void {
    this.#acknowledged.set(lease.id, job);
  }

  took(job: string, lease: LeaseView, believedUntilMs: number): Held {
    const granted = this.#resourcesOf.get(lease.id);
    for (const { resource } of lease.claims) {
      assertInvariant(
        granted?.includes(resource) === true,
        () => `${job} got ${resource} in a reply, which is not in ${lease.id}`,
      );
    }
    // The end of a claim's `hold` is an event of its own.
    const whole = [...(this.ledger.leases.get(lease.id)?.claims.values() ?? [])];
    // A shared resource has many holders; the ledger checks its capacity.
    const claimed = new Set(whole.filter((name) => !this.ledger.shared.has(name)));
    const held = {
      job,
      id: lease.id,
      resources: claimed,
      believedUntilMs,
    };
    const over = this.ledger.ended.has(lease.id);
    if (over || believedUntilMs <= this.#world.nowMs) return held;
    for (const other of this.#held.values()) {
      if (other.believedUntilMs <= this.#world.nowMs || other.id === lease.id) continue;
      for (const resource of held.resources) {
        assertInvariant(
          !other.resources.has(resource),
          () => `${job} and ${other.job} both have ${resource}`,
        );
      }
    }
    this.#held.set(lease.id, held);
    return held;
  }

  renewed(held: Held, believedUntilMs: number): void {
    held.believedUntilMs = Math.max(held.believedUntilMs, believedUntilMs);
  }

  /** From here on the job does not use it. */
  released(held: Held): void {
    this.#held.delete(held.id);
    this.#givenBack.add(held.id);
  }

  /**
   * A client without a lease's id ends whatever its name has of the resource: also a lease that a late
   * copy of its request got, of which it does not know.
   */
  releasesByName(holder: string, resource: string): void {
    this.#releasedByName.add(`${holder} ${resource}`);
  }

  #isReleasedByName(id: RequestId): boolean {
    if (this.#held.has(id)) return false;
    const resources = this.#resourcesOf.get(id) ?? [];
    return resources.every((name) => this.#releasedByName.has(`${this.#holders.get(id)} ${name}`));
  }

  /** A worker releases a cluster. */
  releases(id: RequestId): void {
    this.#givenBack.add(id);
  }

  left(id: RequestId): undefined {
    this.#left.add(id);
  }

  /** After a restart: every acknowledged lease exists, or is known to have ended. */
  recovered(state: State): void {
    for (const [id, job] of this.#acknowledged) {
      const known = state.leases.has(id) || state.ended.has(id);
      assertInvariant(known, () => `the lease ${id} of ${job} was acknowledged and is lost`);
    }
  }

  anotherLease(id: RequestId, random: Random): RequestId | undefined {
    const others = [...this.#held.keys()].filter((other) => other !== id);
    return others.length === 0 ? undefined : random.pick(others);
  }

  /** The holder of a resource now. */
  holderOf(resource: string): string | undefined {
    const id = this.ledger.things.get(resource)?.heldBy ?? "";
    return this.ledger.leases.get(id)?.ask.holder;
  }

  /** The lease that now has a resource of an ended lease. */
  successorOf(id: RequestId): RequestId | undefined {
    if (!this.ledger.ended.has(id)) return undefined;
    for (const resource of this.#resourcesOf.get(id) ?? []) {
      const holder = this.ledger.things.get(resource)?.heldBy;
      if (holder !== undefined && holder !== null && holder !== id) return holder as RequestId;
    }
    return undefined;
  }
}
