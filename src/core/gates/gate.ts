/**
 * A gate delays a request although its resources are free: the pace does not allow the next grant
 * yet, an external check has not agreed, or other leases use up a limit.
 *
 * Only `gates.ts` calls gates, for grants, explanations, wait causes, deadlines and takes by name.
 * To add a gate, implement this interface in a new file and add it to the list there. Cleaning
 * passes most gates: see `Purpose`. A gate only reads. The grant's event records its charges, and
 * `apply` writes them.
 */

import type { BrokerEvent, EventOf, WaitCode } from "../model/event.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Rank } from "../model/rank.ts";
import type { Space } from "../model/space.ts";
import type { Need, Pool, Request, State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";

/** The part of a need that gates read. */
export type Use = Pick<Need, "pool" | "state" | "purpose" | "count">;

/** One alternative of a request, checked at one time. */
export interface Attempt {
  readonly needs: readonly Use[];
  readonly rank: Rank;
  readonly now: Instant;
  /** A gate counts as open if it opens by this time. Absent: it must be open now. */
  readonly by?: Instant;
}

/** The decision that grants a request. A gate reads it to find what the request waited for. */
export interface Opening {
  readonly state: State;
  readonly events: readonly BrokerEvent[];
  readonly request: Request;
  readonly needs: readonly Need[];
  readonly now: Instant;
}

/** Why a gate delays a need, as a sentence. */
export interface Obstacle {
  readonly code: WaitCode;
  readonly what: string;
  /** The pool whose limit or pace requests in other queues wait for too. */
  readonly shared?: Pool;
}

/** A gate that delays every request for a pool until a known time. */
export interface Closure {
  /** The pool that has the rule: the pool itself, or an ancestor. */
  readonly by: Pool;
  readonly until: Instant;
}

/** The part of a grant's event that records what the grant uses up. */
export type Charges = Pick<EventOf<"lease-granted">, "paced" | "admitted">;

/** The fields of a pool that charges change. */
export type FlowChange = Partial<Pick<Pool, "pace" | "adaptive" | "admission">>;

export type Gate = GateRules & (OpensByTime | OpensOtherwise);

interface GateRules {
  readonly name: string;
  /** Whether this gate can ever delay a request for the pool. */
  guards(pool: Pool): boolean;
  /**
   * Returns the pool whose gate is closed, or null. `earlier` are the gates ahead of this one in
   * the list: a gate may ignore a request ahead that an earlier gate delays.
   */
  closedBy(attempt: Attempt, earlier: readonly Gate[]): Pool | null;
  /** Returns a refusal if the gate can never let these needs pass. */
  neverPasses?(needs: readonly Need[], space: Space | null): Refusal | undefined;
  /** Returns what a grant of these uses up. `id` is the seed of values that must look random. */
  charge?(uses: readonly Use[], id: string, now: Instant): Charges | undefined;
  /** Returns the new fields of each pool that the grant charges. */
  charged?(
    state: State,
    event: EventOf<"lease-granted">,
    at: Instant,
  ): Iterable<[Pool, FlowChange]>;
  /**
   * Returns why the gate delays this need of the attempt; null if it does not, or if too few are
   * free (`isPresent`), which is the better reason.
   */
  explain(attempt: Attempt, need: Need): Obstacle | null;
  /** The wait code, if this gate opened for the request in this decision. */
  openedIn(opening: Opening): WaitCode | null;
}

/**
 * A gate that opens by time must request a decision for that time. Otherwise no request would pass.
 */
interface OpensByTime {
  /**
   * Returns the next time after `now` at which the gate opens or closes for the requests that wait
   * for the pool; `never` if none waits. After a restart `now` may be far in the past.
   */
  opensAt(pool: Pool, now: Instant): Instant;
  /**
   * Returns when the next grant is possible, also if no request waits, to show it to people; null
   * if the gate is open at `now`.
   */
  closedUntil(pool: Pool, now: Instant): Closure | null;
}

/**
 * A gate that an event opens, at a time that nobody knows. Time may still change which request can
 * be granted.
 */
interface OpensOtherwise {
  readonly opensAt: OpensByTime["opensAt"] | null;
  readonly closedUntil: null;
}

export function hasHappened(
  events: readonly BrokerEvent[],
  type: "pool-admitted" | "pool-attended" | "pool-resumed" | "rate-changed",
  pool: Pool,
): boolean {
  return events.some((event) => event.type === type && event.pool === pool.name);
}
