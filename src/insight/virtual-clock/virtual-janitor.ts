import type { DurableEvent, Return } from "../../core/model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { cleaningState, dirtyState, freeState } from "../../core/model/lifecycle.ts";
import { after, type Instant } from "../../core/model/time.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A resource that has become dirty. */
export interface DirtyResource {
  readonly pool: PoolName;
  readonly resource: ResourceName;
  /** The lease that left it dirty; null: it is new. */
  readonly lease: RequestId | null;
}

/** No lease of a cleaner expires here. */
const ttlMs = 100 * 365 * 24 * 3_600_000;

/**
 * Cleans dirty resources on a virtual clock, with leases of its own as every cleaner. It begins as
 * soon as a resource is dirty; `durationOf` includes the time until a real cleaner would begin.
 */
export class VirtualJanitor {
  readonly #clock: VirtualClock;
  readonly #durationOf: (dirty: DirtyResource) => number;
  readonly #durations = new Map<RequestId, number>();
  #count = 0;

  /** An infinite duration: the resource stays dirty. */
  constructor(clock: VirtualClock, durationOf: (dirty: DirtyResource) => number) {
    this.#clock = clock;
    this.#durationOf = durationOf;
  }

  /** Must be called with all events of the clock. */
  follow(event: DurableEvent): void {
    switch (event.type) {
      case "lease-granted":
        return this.#granted(event.id);
      case "lease-ended":
        for (const back of event.back) this.#returned(back, event.id);
        return;
      case "claim-ended":
        return this.#returned(event.back, event.id);
      case "resource-added":
        return this.#returned({ state: freeState, ...event }, null);
    }
  }

  /** Takes one resource of the pool at that time, and frees it after the duration. */
  clean(pool: PoolName, at: Instant, durationMs: number, state: string = dirtyState): void {
    this.#count += 1;
    const id = `cleaning ${this.#count}` as RequestId;
    this.#durations.set(id, durationMs);
    const items = [{ pool, count: 1, state, into: cleaningState }];
    const ask = { holder: "janitor", items, ttlMs };
    this.#clock.plan(at, { type: "acquire", id, ask, waitMs: 0, nowOnly: true });
  }

  #granted(id: RequestId): void {
    const durationMs = this.#durations.get(id);
    if (durationMs === undefined) return;
    this.#durations.delete(id);
    if (!Number.isFinite(durationMs)) return;
    this.#clock.plan(after(this.#clock.now, durationMs), { type: "release", id });
  }

  #returned(
    back: Pick<Return, "resource" | "state" | "restsUntil">,
    lease: RequestId | null,
  ): void {
    const { resource, state, restsUntil = this.#clock.now } = back;
    if (state !== dirtyState) return;
    const pool = this.#clock.state.resources.get(resource)?.pool.name;
    if (pool === undefined) return;
    this.clean(pool, restsUntil, this.#durationOf({ pool, resource, lease }));
  }
}
