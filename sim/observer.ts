/**
 * Sees what clients were told and what was committed, and insists that the two agree: nothing
 * acknowledged is lost, and no two jobs believe at one time that they have the same resource.
 */

import type { LeaseView } from "../src/core/explain/view.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import type { State } from "../src/core/model/state.ts";
import type { Random } from "../src/insight/forecast/random.ts";
import type { Recorded } from "../src/journal/journal.ts";
import { Ledger } from "./ledger.ts";
import { insist } from "./violation.ts";
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
        insist(!this.#left.has(event.id), () => `${event.id} was granted after it had left`);
        this.#resourcesOf.set(
          event.id,
          event.claims.map(({ resource }) => resource),
        );
      }
      if (event.type === "lease-ended") this.#ended(event.id, event.why);
      if (event.type === "claim-ended")
        this.#held.get(event.id)?.resources.delete(event.back.resource);
    }
  }

  #ended(id: RequestId, why: string): void {
    const held = this.#held.get(id);
    if (why === "released") {
      insist(this.#givenBack.has(id), () => `${id} was given back by somebody else`);
    }
    if (why === "uncollected") {
      insist(held === undefined, () => `${id} was taken from ${held?.job}, who had come for it`);
    }
    if ((why === "expired" || why === "reset") && held !== undefined) {
      const early = held.believedUntilMs > this.#world.nowMs && !this.#givenBack.has(id);
      insist(!early, () => `${id} expired while ${held.job} was alive`);
    }
    // A lifetime that is over and an operator's word end a lease under its holder's feet, who hears
    // of it with the next heartbeat: there the outside world has the fence, and only that.
    if (why === "lifetime" || why === "revoked") this.#held.delete(id);
  }

  acknowledged(job: string, lease: LeaseView): void {
    this.#acknowledged.set(lease.id, job);
  }

  took(job: string, lease: LeaseView, believedUntilMs: number): Held {
    const granted = this.#resourcesOf.get(lease.id);
    for (const { resource } of lease.claims) {
      insist(
        granted?.includes(resource) === true,
        () => `${job} was told of ${resource}, which is not in ${lease.id}`,
      );
    }
    // A claim whose hold is over says so itself.
    const whole = [...(this.ledger.leases.get(lease.id)?.claims.values() ?? [])];
    // What is lent by amount has many holders; the ledger knows that it is not over its capacity.
    const claimed = new Set(whole.filter((name) => !this.ledger.rooms.has(name)));
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
        insist(
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

  /** From here on the job makes no use of it. */
  gaveBack(held: Held): void {
    this.#held.delete(held.id);
    this.#givenBack.add(held.id);
  }

  left(id: RequestId): undefined {
    this.#left.add(id);
  }

  /** After a restart: everything that was acknowledged is there, or is known to have ended. */
  recovered(state: State): void {
    for (const [id, job] of this.#acknowledged) {
      const known = state.leases.has(id) || state.ended.has(id);
      insist(known, () => `the lease ${id} of ${job} was acknowledged and is lost`);
    }
  }

  anotherLease(id: RequestId, random: Random): RequestId | undefined {
    const others = [...this.#held.keys()].filter((other) => other !== id);
    return others.length === 0 ? undefined : random.pick(others);
  }

  /** Who has a resource now, by name. */
  holderOf(resource: string): string | undefined {
    const id = this.ledger.things.get(resource)?.heldBy ?? "";
    return this.ledger.leases.get(id)?.ask.holder;
  }

  /** Who has now what an ended lease once had. */
  successorOf(id: RequestId): RequestId | undefined {
    if (!this.ledger.ended.has(id)) return undefined;
    for (const resource of this.#resourcesOf.get(id) ?? []) {
      const holder = this.ledger.things.get(resource)?.heldBy;
      if (holder !== undefined && holder !== null && holder !== id) return holder as RequestId;
    }
    return undefined;
  }
}
