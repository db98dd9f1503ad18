/**
 * Derives from events how long resources were dirty: from the end of a lease (and its cooldown) until
 * the resource was free again, whoever cleaned it. Failed cleanings, backoffs and quarantines are
 * part of that time.
 */
import type { Return } from "../../core/model/event.ts";
import {
  dirtyState,
  freeState,
  type Purpose,
  quarantinedState,
} from "../../core/model/lifecycle.ts";
import { exclusiveClaim, type Resource, type State } from "../../core/model/state.ts";

/** A resource that is dirty, or being cleaned. */
export interface Dirty {
  readonly resource: string;
  readonly pool: string;
  /** The lease that left it dirty, and the claim of it; null: no lease did. */
  readonly id: string | null;
  readonly claim: string | null;
  readonly dirtyAt: number;
}

/** A resource that was dirty, and is free again. */
export interface Upkeep extends Dirty {
  readonly readyAt: number;
}

export interface UpkeepChanges {
  readonly upkeep: Upkeep[];
  /** Null: it is no longer dirty. */
  readonly dirty: Map<string, Dirty | null>;
}

interface Ended {
  readonly id: string;
  readonly claim: string;
  readonly pool: string;
  readonly purpose: Purpose;
}

export class UpkeepFold {
  readonly #dirty: Map<string, Dirty>;
  #changes = noUpkeepChanges();

  constructor(dirty: ReadonlyMap<string, Dirty> = new Map()) {
    this.#dirty = new Map(dirty);
  }

  get dirty(): Iterable<Dirty> {
    return this.#dirty.values();
  }

  take(): UpkeepChanges {
    const changes = this.#changes;
    this.#changes = noUpkeepChanges();
    return changes;
  }

  startOver(state: State): void {
    for (const resource of [...this.#dirty.keys()]) this.forget(resource);
    for (const resource of state.resources.values()) {
      const { name, pool, changedAt } = resource;
      if (isDirty(resource)) this.added(name, pool.name, changedAt);
    }
  }

  /** A claim ended, and its resource goes to a state, perhaps after a cooldown. */
  returned({ id, claim, pool, purpose }: Ended, back: Return, at: number): void {
    const { resource, state, restsUntil = at } = back;
    if (purpose !== "use") return this.changed(resource, pool, state, at);
    this.forget(resource);
    if (state === dirtyState) this.#begin({ resource, pool, id, claim, dirtyAt: restsUntil });
  }

  /** No lease made it dirty: it is new, or an operator has changed it. */
  added(resource: string, pool: string, at: number): void {
    this.#begin({ resource, pool, id: null, claim: null, dirtyAt: at });
  }

  /** A cleaner or an operator has put it into a state. */
  changed(resource: string, pool: string, state: string, at: number): void {
    const dirty = this.#dirty.get(resource);
    if (state === dirtyState && dirty === undefined) this.added(resource, pool, at);
    if (state === dirtyState || state === quarantinedState) return;
    this.forget(resource);
    if (state !== freeState || dirty === undefined || at < dirty.dirtyAt) return;
    this.#changes.upkeep.push({ ...dirty, pool, readyAt: at });
  }

  forget(resource: string): void {
    if (this.#dirty.delete(resource)) this.#changes.dirty.set(resource, null);
  }

  #begin(dirty: Dirty): void {
    this.#dirty.set(dirty.resource, dirty);
    this.#changes.dirty.set(dirty.resource, dirty);
  }
}

/** Dirty, or being cleaned. */
function isDirty(resource: Resource): boolean {
  return resource.state === dirtyState || exclusiveClaim(resource)?.purpose === "clean";
}

export function noUpkeepChanges(): UpkeepChanges {
  return { upkeep: [], dirty: new Map() };
}
