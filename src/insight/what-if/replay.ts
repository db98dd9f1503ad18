/** Replays recorded demand against the real core on a virtual clock. */
import type { Command } from "../../core/model/command.ts";
import { type BrokerEvent, type DurableEvent, isDurable } from "../../core/model/event.ts";
import type { ClaimId, PoolName, RequestId, SpaceName } from "../../core/model/ids.ts";
import { freeState } from "../../core/model/lifecycle.ts";
import type { State } from "../../core/model/state.ts";
import { after, type Instant } from "../../core/model/time.ts";
import { itemOf } from "../history/entry.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";
import { type DirtyResource, VirtualJanitor } from "../virtual-clock/virtual-janitor.ts";
import { VirtualProvisioner } from "../virtual-clock/virtual-provisioner.ts";
import type { Occupied } from "./cleaning-times.ts";
import type { Demand, DemandEnd } from "./demand.ts";

/** No lease expires for missing heartbeats, except that of a holder that died. */
const ttlMsOtherwise = 100 * 365 * 24 * 3_600_000;

export interface ReplayOptions {
  /** Called with all events. */
  readonly happened?: (at: Instant, events: readonly DurableEvent[]) => void;
  readonly ttlMs?: number;
  /** How long a resource is dirty after a claim; `lease` and `claim` as in the recording. */
  readonly cleaningMs?: (pool: string, lease: string | null, claim: string | null) => number;
}

export class Replay {
  readonly #clock: VirtualClock;
  readonly #options: ReplayOptions;
  readonly #asked = new Map<string, Demand>();
  readonly #janitor: VirtualJanitor;
  readonly #provisioner: VirtualProvisioner;
  /** The claims of each lease, by their resource. */
  readonly #claims = new Map<string, ReadonlyMap<string, string>>();

  constructor(state: State, start: number, options: ReplayOptions = {}) {
    this.#clock = new VirtualClock(state, start as Instant, (events, at) =>
      this.#onEvents(events, at),
    );
    this.#options = options;
    this.#provisioner = new VirtualProvisioner(this.#clock, ({ ageMs }) => ageMs);
    this.#janitor = new VirtualJanitor(this.#clock, (dirty) => this.#cleaningMs(dirty));
  }

  get now(): Instant {
    return this.#clock.now;
  }

  /** The requests that were accepted and have not ended yet. */
  get asked(): ReadonlyMap<string, Demand> {
    return this.#asked;
  }

  /**
   * Sends the request now. Everything that follows from it happens as time passes. Returns false if
   * it was refused, because nothing could ever satisfy it.
   */
  ask(demand: Demand): boolean {
    const { id, holder, space, items, group, priority, patienceMs, ends } = demand;
    const death = ends.find(({ forced }) => forced);
    const ask = {
      holder,
      items: items.map(itemOf),
      priority,
      // A holder that dies sends no heartbeat, so the lease expires at its recorded end.
      ttlMs: death?.afterMs ?? this.#options.ttlMs ?? ttlMsOtherwise,
      ...(group === undefined ? undefined : { group }),
      ...(space === undefined ? undefined : { space: space as SpaceName }),
    };
    this.#asked.set(id, demand);
    if (patienceMs !== null) {
      const leave: Command = { type: "leave", id: id as RequestId, why: "cancelled" };
      this.#clock.plan(Math.max(this.now, demand.askedAt + patienceMs) as Instant, leave);
    }
    const waitMs = death === undefined ? 0 : ttlMsOtherwise; // It dies later, not in the queue.
    const outcome = this.#clock.do({ type: "acquire", id: id as RequestId, ask, waitMs });
    if (outcome.type !== "refused") return true;
    this.#asked.delete(id);
    return false;
  }

  /** Takes one resource of a pool out of use, as if it were being cleaned. */
  occupy({ pool, at, durationMs }: Occupied): void {
    this.#janitor.clean(pool as PoolName, at as Instant, durationMs, freeState);
  }

  /** Advances the time up to and including that instant. */
  passTo(end: number): void {
    this.#clock.passTo(end as Instant);
  }

  #onEvents(events: readonly BrokerEvent[], at: Instant): void {
    const durable = events.filter(isDurable);
    for (const event of durable) {
      if (event.type === "lease-granted") {
        this.#claims.set(event.id, new Map(event.claims.map((one) => [one.resource, one.id])));
        this.#planEnd(event.id);
      }
      this.#provisioner.follow(event);
      if (this.#options.cleaningMs !== undefined) this.#janitor.follow(event);
      if (event.type === "lease-ended" || event.type === "request-left") {
        this.#asked.delete(event.id);
        this.#claims.delete(event.id);
      }
    }
    if (durable.length > 0) this.#options.happened?.(at, durable);
  }

  #cleaningMs({ pool, resource, lease }: DirtyResource): number {
    const { cleaningMs = () => Number.POSITIVE_INFINITY } = this.#options;
    if (lease === null) return cleaningMs(pool, null, null);
    const claim = this.#claims.get(lease)?.get(resource) ?? "";
    const recorded = this.#asked.get(lease)?.recordedClaims?.get(claim) ?? claim;
    return cleaningMs(pool, lease, recorded);
  }

  #planEnd(id: RequestId): void {
    for (const end of this.#asked.get(id)?.ends ?? []) {
      const at = after(this.now, end.afterMs);
      for (const command of endOf(id, end)) this.#clock.plan(at, command);
    }
  }
}

function endOf(id: RequestId, { claim, forced, revoked, state }: DemandEnd): Command[] {
  if (forced) return [];
  const to = state === undefined ? undefined : { state };
  const release: Command =
    claim === null
      ? { type: "release", id, ...to }
      : { type: "release", id, claim: claim as ClaimId, ...to };
  if (revoked === undefined) return [release];
  return [{ type: "revoke", id, reason: { by: "history", why: "" } }, release];
}
