/** The list of gates, and the only code that asks them. */

import type { EventOf, WaitCode } from "../model/event.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Rank } from "../model/rank.ts";
import type { Need, Pool, State } from "../model/state.ts";
import { earliest, type Instant, never } from "../model/time.ts";
import { creditGate } from "./credits.ts";
import type {
  Attempt,
  Charges,
  Closure,
  FlowChange,
  Gate,
  Obstacle,
  Opening,
  Use,
} from "./gate.ts";
import { limitGate } from "./limits.ts";
import { paceGate } from "./pace.ts";
import { suspensionGate } from "./suspension.ts";

/**
 * In the order in which they explain a wait. A gate that depends on who else could go (the limit)
 * comes behind those that it asks.
 */
const gates: readonly Gate[] = [suspensionGate, paceGate, creditGate, limitGate];

const earlierThan = new Map(gates.map((gate, index) => [gate, gates.slice(0, index)]));

/** The gates that guard a pool; mostly none. */
export function gatesOf(pool: Pool): readonly Gate[] {
  pool.cache.gates ??= gates.filter((gate) => gate.guards(pool));
  return pool.cache.gates;
}

function isGuarded(uses: readonly Use[]): boolean {
  for (const { pool } of uses) if (gatesOf(pool).length > 0) return true;
  return false;
}

/** The pool in whose gate an attempt is stuck; null: it passes all gates. */
export function closedBy(attempt: Attempt): Pool | null {
  if (!isGuarded(attempt.needs)) return null;
  for (const gate of gates) {
    const pool = closedAt(gate, attempt);
    if (pool !== null) return pool;
  }
  return null;
}

export function passesGates(needs: readonly Use[], rank: Rank, now: Instant): boolean {
  return !isGuarded(needs) || closedBy({ needs, rank, now }) === null;
}

function closedAt(gate: Gate, attempt: Attempt): Pool | null {
  return gate.closedBy(attempt, earlierThan.get(gate) ?? []);
}

/** Whether nothing but credits are missing: the check outside is worth asking. */
export function lacksOnlyCredits(attempt: Attempt): boolean {
  if (!isGuarded(attempt.needs) || closedAt(creditGate, attempt) === null) return false;
  return gates.every((gate) => gate === creditGate || closedAt(gate, attempt) === null);
}

export function neverPasses(needs: readonly Need[]): Refusal | undefined {
  if (!isGuarded(needs)) return undefined;
  for (const gate of gates) {
    const refusal = gate.neverPasses?.(needs);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** What a grant uses up at every gate. */
export function chargesFor(uses: readonly Use[], id: string, now: Instant): Charges | undefined {
  if (!isGuarded(uses)) return undefined;
  return Object.assign({}, ...gates.map((gate) => gate.charge?.(uses, id, now)));
}

/** What a grant has used up, pool by pool. */
export function* charged(
  state: State,
  event: EventOf<"lease-granted">,
  at: Instant,
): Generator<[Pool, FlowChange], void, undefined> {
  for (const gate of gates) yield* gate.charged?.(state, event, at) ?? [];
}

/** When a pool is to be looked at again because a gate may open by then. */
export function opensAt(pool: Pool, now: Instant): Instant {
  let at = never;
  for (const gate of gatesOf(pool)) at = earliest(at, gate.opensAt?.(pool, now) ?? never);
  return at;
}

/** Until when gates hold back every request for a pool: the last of them; null: none does. */
export function closedUntil(pool: Pool, now: Instant): Closure | null {
  let last: Closure | null = null;
  for (const gate of gatesOf(pool)) {
    const closure = gate.closedUntil?.(pool, now) ?? null;
    if (closure !== null && (last === null || closure.until > last.until)) last = closure;
  }
  return last;
}

/** Whether a gate of the pool opens at times that can be known. */
export function opensByTime(pool: Pool): boolean {
  return gatesOf(pool).some((gate) => gate.closedUntil !== null);
}

/** The first gate that holds back this need of the attempt, in words. */
export function gateObstacle(attempt: Attempt, need: Need): Obstacle | null {
  if (!isGuarded(attempt.needs)) return null;
  for (const gate of gates) {
    const obstacle = gate.explain(attempt, need);
    if (obstacle !== null) return obstacle;
  }
  return null;
}

/** The wait code of the gate that let a request pass in this decision. */
export function openedIn(opening: Opening): WaitCode | null {
  if (!isGuarded(opening.needs)) return null;
  for (const gate of gates.toReversed()) {
    const code = gate.openedIn(opening);
    if (code !== null) return code;
  }
  return null;
}
