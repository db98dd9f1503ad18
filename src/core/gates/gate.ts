/**
 * A gate holds a request back although what it wants is there: because it is too soon, because a
 * check outside has not agreed, because others have used a limit up.
 *
 * Gates are asked in one place (`gates.ts`) by grants, explanations, wait causes, deadlines and takes
 * by name. To add one, implement this interface in a file of its own and add it to the list there.
 * Cleaning passes most gates: see `Purpose`. A gate only reads; the grant's event says what it charges, and `apply` writes it.
 */

import type { BrokerEvent, EventOf, WaitCode } from "../model/event.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Rank } from "../model/rank.ts";
import type { Need, Pool, Request, State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";

/** As much of a need as gates must know. */
export type Use = Pick<Need, "pool" | "state" | "purpose" | "count">;

/** One alternative of a request, tried at one moment. */
export interface Attempt {
  readonly needs: readonly Use[];
  readonly rank: Rank;
  readonly now: Instant;
  /** A gate counts as open if it opens by this time. Absent: it must be open now. */
  readonly by?: Instant;
}

/** The events of the decision that grants a request, to find out what it had waited for. */
export interface Opening {
  readonly state: State;
  readonly events: readonly BrokerEvent[];
  readonly request: Request;
  readonly needs: readonly Need[];
  readonly now: Instant;
}

/** Why a need is held back, in words. */
export interface Obstacle {
  readonly code: WaitCode;
  readonly what: string;
  /** The pool that others wait for in other queues as well. */
  readonly shared?: Pool;
}

/** A gate that holds back every request for a pool until a known time. */
export interface Closure {
  /** The pool whose rule it is: the pool itself, or one above it. */
  readonly by: Pool;
  readonly until: Instant;
}

/** What a grant uses up, as part of its event. */
export type Charges = Pick<EventOf<"lease-granted">, "paced" | "admitted">;

/** What charges change of a pool. */
export type FlowChange = Partial<Pick<Pool, "pace" | "adaptive" | "admission">>;

export type Gate = GateRules & (OpensByTime | OpensOtherwise);

interface GateRules {
  readonly name: string;
  /** Whether it can ever hold back a request for this pool. */
  guards(pool: Pool): boolean;
  /**
   * The pool that is in the way; null: nothing is. `earlier` are the gates before this one in the
   * list: a gate may ignore a request ahead that one of them holds back.
   */
  closedBy(attempt: Attempt, earlier: readonly Gate[]): Pool | null;
  /** Why no amount of waiting would help. */
  neverPasses?(needs: readonly Need[]): Refusal | undefined;
  /** What a grant of these uses up. `id` is the seed of anything that should look random. */
  charge?(uses: readonly Use[], id: string, now: Instant): Charges | undefined;
  /** What the charges of a grant make of its pools. */
  charged?(
    state: State,
    event: EventOf<"lease-granted">,
    at: Instant,
  ): Iterable<[Pool, FlowChange]>;
  /**
   * Why it holds this need of the attempt back; null: it does not, or the need is not there anyway
   * (`isPresent`), which then is the better reason.
   */
  explain(attempt: Attempt, need: Need): Obstacle | null;
  /** The wait code, if this gate opened for the request in this decision. */
  openedIn(opening: Opening): WaitCode | null;
}

/** A gate that time opens has to ask for a decision then, or nobody would be let through. */
interface OpensByTime {
  /**
   * Asks for a decision at the next time, after `now`, at which it opens or closes for the requests
   * that wait for the pool; `never` if nobody waits. After a restart `now` may be far in the past.
   */
  opensAt(pool: Pool, now: Instant): Instant;
  /**
   * Shows people when the next grant may come, whether anybody waits or not; null: it is open at
   * `now`.
   */
  closedUntil(pool: Pool, now: Instant): Closure | null;
}

/** Nobody can know when it opens: an event does that. Time may still change who can go. */
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
