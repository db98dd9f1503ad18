/** What the policy of a space says about its requests. */
import type { Ask } from "../model/command.ts";
import type { Refusal } from "../model/outcome.ts";
import { mayUse, type Space } from "../model/space.ts";
import { type Need, queueAt, type State } from "../model/state.ts";
import { poolsOf } from "../queue/needs.ts";

/** Refuses a request of a space that does not exist, or that may not use a pool. */
export function refuseSpace(state: State, space: Space | null, ask: Ask): Refusal | undefined {
  if (space === null) return undefined;
  const { name, policy } = space;
  if (state.otherSpaces === null && !state.spacePolicies.has(name)) {
    // Without the nearest name: the caller may not know the spaces of others.
    return { code: "space_unknown", space: name };
  }
  if (policy.pools === undefined) return undefined;
  for (const pool of ask.items.flatMap(poolsOf)) {
    if (!mayUse(policy, pool)) return { code: "pool_not_allowed", space: name, pool };
  }
  return undefined;
}

/** Each priority of a space has a place of its own in a queue, and each grant moves all of them. */
const prioritiesMax = 64;

/** Refuses to queue one more request of a space. */
export function refuseToWait(
  space: Space | null,
  { priority = 0 }: Ask,
  needs: readonly Need[],
): Refusal | undefined {
  if (space === null) return undefined;
  const { name, policy, waiting } = space;
  const { waitingMax: max } = policy;
  if (max !== undefined && waiting >= max) return { code: "too_many_waiting", space: name, max };
  for (const need of needs) {
    const lines = queueAt(need).linesOf(space);
    if (lines.length < prioritiesMax || lines.some((line) => line.priority === priority)) continue;
    const pool = need.pool.name;
    return { code: "too_many_priorities", space: name, pool, max: prioritiesMax };
  }
  return undefined;
}

/** Lowers the priority and the lifetime to what the space may have. */
export function boundedBy(space: Space | null, ask: Ask): Ask {
  if (space === null) return ask;
  const { priorityMax = Number.POSITIVE_INFINITY, lifetimeMs: most } = space.policy;
  const { priority = 0, lifetimeMs = Number.POSITIVE_INFINITY } = ask;
  if (priority <= priorityMax && (most === undefined || lifetimeMs <= most)) return ask;
  return {
    ...ask,
    ...(priority > priorityMax ? { priority: priorityMax } : undefined),
    ...(most === undefined || lifetimeMs <= most ? undefined : { lifetimeMs: most }),
  };
}
