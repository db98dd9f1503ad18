/** Keeps what the spaces of a cohort use, and what their waiting requests may claim. */
import { type CohortQuota, nothingQuoted, quotaKey, quotedOf } from "../model/cohort.ts";
import { askedOf } from "../model/quota.ts";
import type { Space } from "../model/space.ts";
import type { Request, State } from "../model/state.ts";
import { edit } from "./edit.ts";

/** Updates the sums of the cohort after a change of what the space holds or wants. */
export function followCohort(state: State, space: Space): void {
  const { cohort } = space;
  if (cohort === null) return;
  for (const quota of space.policy.quotas) {
    const key = quotaKey(quota);
    const all = cohort.quotas.get(key);
    if (all === undefined) continue;
    const was = space.quoted.get(key) ?? nothingQuoted;
    const now = quotedOf(state, space, quota);
    const writable = edit<CohortQuota>(all);
    writable.used += now.used - was.used;
    writable.reserved += now.reserved - was.reserved;
    if (now.used === 0 && now.reserved === 0) edit(space.quoted).delete(key);
    else edit(space.quoted).set(key, now);
  }
}

/** Adds a request in the queue to what its space wants, or removes it. */
export function countWanted(state: State, request: Request, by: 1 | -1): void {
  const { space } = request;
  if (space === null || space.cohort === null) return;
  addWanted(space, request, by);
  followCohort(state, space);
}

function addWanted(space: Space, { alternatives, needs }: Request, by: 1 | -1): void {
  for (const quota of space.policy.quotas) {
    const size = askedOf(quota, alternatives[0] ?? needs);
    if (size === 0) continue;
    const key = quotaKey(quota);
    const sizes = edit(space.wanted).get(key) ?? new Map<number, number>();
    edit(space.wanted).set(key, sizes);
    const count = (sizes.get(size) ?? 0) + by;
    if (count === 0) edit(sizes).delete(size);
    else edit(sizes).set(size, count);
    if (sizes.size === 0) edit(space.wanted).delete(key);
  }
}

/** Computes all sums again: quotas, or the pools that they count, may be others now. */
export function countCohortsAnew(state: State): void {
  for (const { quotas } of state.cohorts.values()) {
    for (const quota of quotas.values()) Object.assign(edit<CohortQuota>(quota), nothingQuoted);
  }
  for (const space of state.spaces.values()) {
    edit(space.quoted).clear();
    edit(space.wanted).clear();
  }
  if (state.cohorts.size === 0) return;
  for (const request of state.requests.values()) {
    const { space, inLine } = request;
    if (inLine && space !== null && space.cohort !== null) addWanted(space, request, 1);
  }
  for (const space of state.spaces.values()) followCohort(state, space);
}
