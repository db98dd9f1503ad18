/** Demand against the real core on a virtual clock: a week passes in seconds. */

import { decide, nextDueAt } from "../../core/decide/decide.ts";
import type { Command } from "../../core/model/command.ts";
import { DueHeap } from "../../core/model/due-heap.ts";
import { type DurableEvent, isDurable } from "../../core/model/event.ts";
import type { ClaimId, PoolName, RequestId } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import { after, type Instant, never } from "../../core/model/time.ts";
import type { Demand } from "./demand.ts";

/** Nobody is given up for silence: who died is known, and ends as recorded. */
const ttlMsOtherwise = 100 * 365 * 24 * 3_600_000;

/** Something that somebody does at some time; of those of one time, the first planned comes first. */
interface Deed {
  readonly command: Command;
  dueAt: Instant;
  heapIndex: number;
}

export interface ReplayOptions {
  /** Told of everything that happens. */
  readonly happened?: (at: Instant, events: readonly DurableEvent[]) => void;
  readonly ttlMs?: number;
}

export class Replay {
  readonly #state: State;
  readonly #options: ReplayOptions;
  readonly #deeds = new DueHeap<Deed>();
  readonly #asked = new Map<string, Demand>();
  #now: Instant;

  constructor(state: State, start: number, options: ReplayOptions = {}) {
    this.#state = state;
    this.#now = start as Instant;
    this.#options = options;
  }

  get now(): Instant {
    return this.#now;
  }

  /** What was asked for and neither refused nor ended so far. */
  get asked(): ReadonlyMap<string, Demand> {
    return this.#asked;
  }

  /** Asks now; all that follows of it happens by itself as time passes. */
  ask(demand: Demand): void {
    const { id, holder, items, priority, patienceMs } = demand;
    const ask = {
      holder,
      items: items.map(({ pool, count }) => ({ pool: pool as PoolName, count })),
      priority,
      ttlMs: this.#options.ttlMs ?? ttlMsOtherwise,
    };
    this.#asked.set(id, demand);
    if (patienceMs !== null) {
      const leave: Command = { type: "leave", id: id as RequestId, why: "cancelled" };
      this.#plan(Math.max(this.#now, demand.askedAt + patienceMs) as Instant, leave);
    }
    this.#do({ type: "acquire", id: id as RequestId, ask, waitMs: 0 });
  }

  /** Lets time pass, up to and including that instant. */
  passTo(end: number): void {
    for (;;) {
      const dueAt = nextDueAt(this.#state) ?? never;
      const deed = this.#deeds.first();
      const next = Math.min(dueAt, deed?.dueAt ?? never) as Instant;
      if (next > end || next === never) break;
      if (next > this.#now) this.#now = next;
      if (dueAt <= next) this.#do({ type: "tick" });
      else if (deed !== undefined) {
        this.#deeds.clear(deed);
        this.#do(deed.command);
      }
    }
    if (end > this.#now) this.#now = end as Instant;
  }

  #do(command: Command): void {
    const { events } = decide(this.#state, command, this.#now);
    const durable = events.filter(isDurable);
    for (const event of durable) {
      if (event.type === "lease-granted") this.#planEnd(event.id);
      if (event.type === "lease-ended" || event.type === "request-left") {
        this.#asked.delete(event.id);
      }
    }
    if (durable.length > 0) this.#options.happened?.(this.#now, durable);
  }

  #planEnd(id: RequestId): void {
    for (const { claim, afterMs, forced } of this.#asked.get(id)?.ends ?? []) {
      const at = after(this.#now, afterMs);
      if (forced) this.#plan(at, { type: "revoke", id, reason: { by: "history", why: "" } });
      else if (claim === null) this.#plan(at, { type: "release", id });
      else this.#plan(at, { type: "release", id, claim: claim as ClaimId });
    }
  }

  #plan(at: Instant, command: Command): void {
    this.#deeds.set({ command, dueAt: never, heapIndex: -1 }, at);
  }
}
