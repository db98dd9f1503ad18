/**
 * A second ledger of the shared resources, in plain maps: the amounts and parts of each claim. It
 * reads every committed event and uses no indexes, strategies or patience.
 */

import type { DurableEvent, GrantedClaim } from "../src/core/model/event.ts";
import { effectiveCapacity } from "../src/core/shared/placement/overcommit.ts";
import type { CapacitySpec } from "../src/core/shared/placement/shareable.ts";
import { assertInvariant } from "./violation.ts";

interface Share {
  readonly lease: string;
  readonly owner: string;
  readonly claim: GrantedClaim;
}

export class SharedLedger {
  readonly #rooms = new Map<string, CapacitySpec>();
  readonly #shared = new Set<string>();
  readonly #asked = new Map<string, string>();
  readonly #shares = new Map<string, Share[]>();

  has(resource: string): boolean {
    return this.#rooms.has(resource);
  }

  isShared(pool: string): boolean {
    return this.#shared.has(pool);
  }

  record(event: DurableEvent): void {
    switch (event.type) {
      case "pool-defined":
        if (event.policy.placement === undefined) this.#shared.delete(event.pool);
        else this.#shared.add(event.pool);
        return;
      case "resource-added":
      case "resource-resized":
      case "resource-moved":
        if (event.room === undefined) this.#rooms.delete(event.resource);
        else this.#rooms.set(event.resource, event.room);
        return;
      case "resource-removed":
        assertInvariant(
          this.#on(event.resource).length === 0,
          () => `${event.resource} was removed while it was held`,
        );
        this.#rooms.delete(event.resource);
        return;
      case "request-queued":
        this.#asked.set(event.id, event.ask.group?.name ?? event.id);
        return;
      case "lease-granted":
        return this.#granted(event.id, event.ask?.group?.name ?? event.id, event.claims);
      case "claim-ended":
        this.#shares.set(
          event.id,
          (this.#shares.get(event.id) ?? []).filter(({ claim }) => claim.id !== event.claim),
        );
        return;
      case "lease-ended":
        this.#shares.delete(event.id);
        return;
      default:
        return;
    }
  }

  #granted(lease: string, eventOwner: string, claims: readonly GrantedClaim[]): void {
    const owner = this.#asked.get(lease) ?? eventOwner;
    for (const claim of claims) {
      if (claim.amount === undefined) continue;
      this.#partsAreFree(owner, claim);
      this.#shares.set(lease, [...(this.#shares.get(lease) ?? []), { lease, owner, claim }]);
      this.#within(claim.resource);
    }
  }

  /** After a grant no dimension exceeds its capacity. */
  #within(resource: string): void {
    const spec = this.#rooms.get(resource);
    if (spec === undefined) throw new Error(`Cannot lend a share of ${resource}: it is exclusive`);
    const shares = this.#on(resource);
    for (const [name, capacity] of Object.entries(spec.capacity)) {
      const most = effectiveCapacity(capacity, spec.overcommit?.[name]);
      const used = shares.reduce((sum, { claim }) => sum + (claim.amount?.[name] ?? 0), 0);
      const last = shares.at(-1)?.claim.amount?.[name] ?? 0;
      assertInvariant(
        last === 0 || used <= most,
        () => `${used} of ${most} ${name} of ${resource} are lent`,
      );
    }
  }

  #partsAreFree(owner: string, { parts = {} }: GrantedClaim): void {
    for (const [kind, names] of Object.entries(parts)) {
      for (const name of names) {
        for (const share of [...this.#shares.values()].flat()) {
          const has = share.claim.parts?.[kind]?.includes(name) === true;
          assertInvariant(
            !has || share.owner === owner,
            () => `${name} was lent to ${owner} and ${share.owner}`,
          );
        }
      }
    }
  }

  /** The number of claims on it. */
  countOn(resource: string): number {
    return this.#on(resource).length;
  }

  #on(resource: string): Share[] {
    return [...this.#shares.values()].flat().filter(({ claim }) => claim.resource === resource);
  }
}
