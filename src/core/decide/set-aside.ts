/**
 * Contains a decision that throws, which is a bug in the broker. Only the request or the pool that
 * it concerns is set aside; all others continue.
 */
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { done, type Outcome } from "../model/outcome.ts";
import type { Due, Pool, State } from "../model/state.ts";
import { after } from "../model/time.ts";
import { emit, type Turn } from "./turn.ts";

/** The request or pools that a failed decision was about. */
export interface Culprit {
  readonly pools: readonly PoolName[];
  /** The request that was evaluated. */
  readonly request?: RequestId;
}

/** A decision failed. The state may be half changed and must be dropped. */
export class Undecidable extends Error {
  override readonly name = "Undecidable";
  readonly culprit: Culprit;

  constructor(culprit: Culprit, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const { pools, request } = culprit;
    const about = request === undefined ? pools.join(", ") : `request ${request}`;
    super(`Cannot decide about ${about}: ${why}`, { cause });
    this.culprit = culprit;
  }
}

/** Removes the request from the queue or, if there is none, suspends the pools. */
export function setAside(turn: Turn, command: Extract<Command, { type: "set-aside" }>): Outcome {
  const { request, pools, why } = command;
  if (request !== undefined && turn.state.requests.has(request)) {
    const reason = { by: "berth", why };
    emit(turn, { type: "request-left", id: request, why: "undecidable", reason });
    return done;
  }
  for (const pool of pools) {
    if (turn.state.pools.get(pool)?.suspended !== null) continue;
    emit(turn, { type: "pool-suspended", pool, why });
  }
  return done;
}

/** Resumes suspended pools. Every reload does this. */
export function resumePools(turn: Turn): void {
  for (const { name, suspended } of turn.state.pools.values()) {
    if (suspended !== null) emit(turn, { type: "pool-resumed", pool: name });
  }
}

const postponeMs = 60_000;

/** Postpones the deadline if it belongs to a suspended pool. Returns false if it does not. */
export function postpone(turn: Turn, due: Due): boolean {
  if (!poolsOfDue(turn.state, due).some(({ suspended }) => suspended !== null)) return false;
  emit(turn, { type: "deadline-postponed", until: after(turn.now, postponeMs) });
  return true;
}

export function culpritOf(state: State, due: Due): Culprit {
  const pools = poolsOfDue(state, due).map(({ name }) => name);
  if (due.kind === "patience" || due.kind === "rise") return { pools, request: due.request };
  return due.kind === "request" ? { pools, request: due.id } : { pools };
}

function poolsOfDue(state: State, due: Due): readonly Pool[] {
  switch (due.kind) {
    case "pool":
      return [due];
    case "resource":
      return [due.pool];
    case "claim":
      return [due.resource.pool];
    case "lease":
      return due.claims.map(({ resource }) => resource.pool);
    case "request":
      return due.needs.map(({ pool }) => pool);
    case "patience":
    case "rise":
      return state.requests.get(due.request)?.needs.map(({ pool }) => pool) ?? [];
  }
}
