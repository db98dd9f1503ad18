import { freeState, quarantinedState } from "../core/model/lifecycle.ts";
import { nearest } from "../core/model/nearest.ts";
import type { PoolPolicy } from "../core/model/policy.ts";
import { formatDuration } from "../core/model/time.ts";
import { quote } from "./problem.ts";
import type { Entry } from "./read-map.ts";
import type { Source } from "./source.ts";

/** Policies that are valid and yet cannot be what their writer wants. */
export function warnOfPolicy(
  source: Source,
  fields: ReadonlyMap<string, Entry>,
  policy: PoolPolicy,
): void {
  const { ttlMs, holdMs, lifetimeMs } = policy;
  const [ttl, hold] = [fields.get("ttl"), fields.get("hold")];
  if (lifetimeMs !== null && ttl !== undefined && ttlMs > lifetimeMs) {
    const state = `a job that falls silent is not noticed within the lifetime of`;
    source.warn(ttl.value, `${state} ${formatDuration(lifetimeMs)}`, "write a shorter ttl");
  }
  if (lifetimeMs !== null && hold !== undefined && holdMs !== null && holdMs > lifetimeMs) {
    const state = `it never ends before the lifetime of ${formatDuration(lifetimeMs)} does`;
    source.warn(hold.value, state, "write a shorter hold, or none");
  }
  for (const key of ["onRelease", "onExpire"] as const) {
    const field = fields.get(key);
    if (field !== undefined) warnOfState(source, field, policy[key]);
  }
}

/** What people mean; any other state is theirs to invent, but hardly one letter away from these. */
const usualStates = [
  freeState,
  quarantinedState,
  "dirty",
  "cleaning",
  "drained",
  "tombstone",
  "toBeDeleted",
];

function warnOfState(source: Source, { value }: Entry, state: string): void {
  if (usualStates.includes(state)) return;
  const meant = nearest(state, usualStates);
  if (meant === undefined) return;
  const why = `what is ${quote(state)} is not lent until somebody frees it`;
  source.warn(value, why, `did you mean ${meant}?`);
}
