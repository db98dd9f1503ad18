/** Replays recorded demand against the real core on a virtual clock. */
import type { Command, Item } from "../../core/model/command.ts";
import { type BrokerEvent, type DurableEvent, isDurable } from "../../core/model/event.ts";
import type { ClaimId, PoolName, RequestId } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import { after, type Instant } from "../../core/model/time.ts";
import type { AskedItem } from "../history/entry.ts";
import { VirtualClock } from "../virtual-clock/virtual-clock.ts";
import type { Demand } from "./demand.ts";

/** No lease expires for missing heartbeats: a holder that died ends at its recorded time. */
const ttlMsOtherwise = 100 * 365 * 24 * 3_600_000;

export interface ReplayOptions {
  /** Called with all events. */
  readonly happened?: (at: Instant, events: readonly DurableEvent[]) => void;
  readonly ttlMs?: number;
}

export class Replay {
  readonly #clock: VirtualClock;
  readonly #options: ReplayOptions;
  readonly #asked = new Map<string, Demand>();

  constructor(state: State, start: number, options: ReplayOptions = {}) {
    this.#clock = new VirtualClock(state, start as Instant, (events, at) =>
      this.#onEvents(events, at),
    );
    this.#options = options;
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
    const { id, holder, items, group, priority, patienceMs } = demand;
    const ask = {
      holder,
      items: items.map(itemOf),
      priority,
      ttlMs: this.#options.ttlMs ?? ttlMsOtherwise,
      ...(group === undefined ? undefined : { group }),
    };
    this.#asked.set(id, demand);
    if (patienceMs !== null) {
      const leave: Command = { type: "leave", id: id as RequestId, why: "cancelled" };
      this.#clock.plan(Math.max(this.now, demand.askedAt + patienceMs) as Instant, leave);
    }
    const outcome = this.#clock.do({ type: "acquire", id: id as RequestId, ask, waitMs: 0 });
    if (outcome.type !== "refused") return true;
    this.#asked.delete(id);
    return false;
  }

  /** Advances the time up to and including that instant. */
  passTo(end: number): void {
    this.#clock.passTo(end as Instant);
  }

  #onEvents(events: readonly BrokerEvent[], at: Instant): void {
    const durable = events.filter(isDurable);
    for (const event of durable) {
      if (event.type === "lease-granted") this.#planEnd(event.id);
      if (event.type === "lease-ended" || event.type === "request-left") {
        this.#asked.delete(event.id);
      }
    }
    if (durable.length > 0) this.#options.happened?.(at, durable);
  }

  #planEnd(id: RequestId): void {
    for (const { claim, afterMs, forced } of this.#asked.get(id)?.ends ?? []) {
      this.#clock.plan(after(this.now, afterMs), endOf(id, claim, forced));
    }
  }
}

function itemOf({ pool, anyOf, purpose: _, ...item }: AskedItem): Item {
  const others = anyOf === undefined ? undefined : { anyOf: anyOf as readonly PoolName[] };
  return { ...item, pool: pool as PoolName, ...others };
}

function endOf(id: RequestId, claim: string | null, forced: boolean): Command {
  if (forced) return { type: "revoke", id, reason: { by: "history", why: "" } };
  return claim === null
    ? { type: "release", id }
    : { type: "release", id, claim: claim as ClaimId };
}
