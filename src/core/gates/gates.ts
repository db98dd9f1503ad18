/** The list of gates. Only this file calls them. */

import type { EventOf, WaitCode } from "../model/event.ts";
import type { Refusal } from "../model/outcome.ts";
import { hasQuota } from "../model/quota.ts";
import type { Rank } from "../model/rank.ts";
import type { Space } from "../model/space.ts";
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
import { quotaGate } from "./quotas.ts";
import { suspensionGate } from "./suspension.ts";
import { tightest } from "./tightest.ts";

/**
 * The order in which gates explain a wait. The limit gate asks the gates ahead of it, so it is
 * last.
 */
const gates: readonly Gate[] = [suspensionGate, quotaGate, paceGate, creditGate, limitGate];

const earlierThan = new Map(gates.map((gate, index) => [gate, gates.slice(0, index)]));

/** The gates that can delay requests for a pool; usually none. */
export function gatesOf(pool: Pool): readonly Gate[] {
  pool.cache.gates ??= gates.filter((gate) => gate.guards(pool));
  return pool.cache.gates;
}

function isGuarded(uses: readonly Use[], space: Space | null = null): boolean {
  if (hasQuota(space)) return true;
  for (const { pool } of uses) if (gatesOf(pool).length > 0) return true;
  return false;
}

/** Returns the pool whose gate is closed for the attempt; null if all gates are open. */
export function closedBy(attempt: Attempt): Pool | null {
  if (!isGuarded(attempt.needs, attempt.rank.space)) return null;
  for (const gate of gates) {
    const pool = closedAt(gate, attempt);
    if (pool !== null) return pool;
  }
  return null;
}

export function passesGates(needs: readonly Use[], rank: Rank, now: Instant): boolean {
  return !isGuarded(needs, rank.space) || closedBy({ needs, rank, now }) === null;
}

/** Whether only resources, limits and quotas are missing: the other gates are open now. */
export function isReadyToLend(attempt: Attempt): boolean {
  const counts = [quotaGate, limitGate];
  return gates.every((gate) => counts.includes(gate) || closedAt(gate, attempt) === null);
}

function closedAt(gate: Gate, attempt: Attempt): Pool | null {
  return gate.closedBy(attempt, earlierThan.get(gate) ?? []);
}

/** Whether only credits are missing, so that the external check must run. */
export function lacksOnlyCredits(attempt: Attempt): boolean {
  if (!isGuarded(attempt.needs) || closedAt(creditGate, attempt) === null) return false;
  return gates.every((gate) => gate === creditGate || closedAt(gate, attempt) === null);
}

export function neverPasses(needs: readonly Need[], space: Space | null): Refusal | undefined {
  if (!isGuarded(needs, space)) return undefined;
  return tightest(gates.map((gate) => gate.neverPasses?.(needs, space)));
}

/** Returns what a grant uses up, at all gates. */
export function chargesFor(uses: readonly Use[], id: string, now: Instant): Charges | undefined {
  if (!isGuarded(uses)) return undefined;
  return Object.assign({}, ...gates.map((gate) => gate.charge?.(uses, id, now)));
}

/** Returns the changes that a grant makes to pools. */
export function* charged(
  state: State,
  event: EventOf<"lease-granted">,
  at: Instant,
): Generator<[Pool, FlowChange], void, undefined> {
  for (const gate of gates) yield* gate.charged?.(state, event, at) ?? [];
}

/** Returns when the pool must be checked again because a gate may open. */
export function opensAt(pool: Pool, now: Instant): Instant {
  let at = never;
  for (const gate of gatesOf(pool)) at = earliest(at, gate.opensAt?.(pool, now) ?? never);
  return at;
}

/**
 * Returns the gate that delays every request for a pool for the longest time; null if none does.
 */
export function closedUntil(pool: Pool, now: Instant): Closure | null {
  let last: Closure | null = null;
  for (const gate of gatesOf(pool)) {
    const closure = gate.closedUntil?.(pool, now) ?? null;
    if (closure !== null && (last === null || closure.until > last.until)) last = closure;
  }
  return last;
}

/** Whether a gate of the pool opens at known times. */
export function opensByTime(pool: Pool): boolean {
  return gatesOf(pool).some((gate) => gate.closedUntil !== null);
}

/** Returns why the first closed gate delays this need of the attempt. */
export function gateObstacle(attempt: Attempt, need: Need): Obstacle | null {
  if (!isGuarded(attempt.needs, attempt.rank.space)) return null;
  for (const gate of gates) {
    const obstacle = gate.explain(attempt, need);
    if (obstacle !== null) return obstacle;
  }
  return null;
}

/** Returns the wait code of the gate that opened for the request in this decision. */
export function openedIn(opening: Opening): WaitCode | null {
  if (!isGuarded(opening.needs, opening.request.space)) return null;
  for (const gate of gates.toReversed()) {
    const code = gate.openedIn(opening);
    if (code !== null) return code;
  }
  return null;
}
