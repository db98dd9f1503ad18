/** The work on clusters: what a worker gets with its lease, and where the cluster goes after it. */
import {
  type Cluster,
  defaultPhaseLimits,
  isPhase,
  limitOfPhase,
  reachable,
  stuckOn,
} from "../model/cluster.ts";
import type { GrantedClaim, Return } from "../model/event.ts";
import {
  brokenState,
  destroyingState,
  resumingState,
  stoppingState,
  tombstoneState,
  usedState,
} from "../model/lifecycle.ts";
import type { Refusal } from "../model/outcome.ts";
import type { Claim, ExclusiveResource, State } from "../model/state.ts";
import { after, earliest, type Instant, never } from "../model/time.ts";
import type { Ending } from "./release.ts";

/** The part of a worker's claim that only clusters have. The clock of a phase begins with it. */
export function workOn(
  { cluster, pool, state }: ExclusiveResource,
  now: Instant,
): Pick<GrantedClaim, "purpose" | "deadlineAt"> {
  const isBegun = cluster === null || cluster.deadlineAt !== never || stuckOn(cluster) !== null;
  if (isBegun || !isPhase(state)) return { purpose: "provision" };
  // A pool that has no template any longer still destroys its clusters.
  const limits = pool.policy.cluster?.limits ?? defaultPhaseLimits;
  return { purpose: "provision", deadlineAt: after(now, limitOfPhase(limits, state)) };
}

/** A worker loses its lease when the time for the phase is over; undefined if it has no end. */
export function workEnd(state: State, claims: readonly GrantedClaim[]): Instant | undefined {
  let endsAt: Instant | undefined;
  for (const { purpose, deadlineAt, resource } of claims) {
    if (purpose !== "provision") continue;
    const known = state.resources.get(resource);
    const cluster = known?.sharing === "exclusive" ? known.cluster : null;
    endsAt = earliest(endsAt ?? never, deadlineAt ?? cluster?.deadlineAt ?? never);
  }
  return endsAt;
}

/** Refuses a state that the worker cannot have reached from the phase that it holds. */
export function refuseReached({ claims }: { readonly claims: readonly Claim[] }, to: string) {
  for (const { purpose, resource } of claims) {
    const { name, state } = resource;
    if (purpose !== "provision" || !isPhase(state) || reachable[state].includes(to)) continue;
    const refusal: Refusal = {
      code: "cluster_state",
      ...{ resource: name, action: "release", state, to, allowed: reachable[state] },
    };
    return refusal;
  }
  return undefined;
}

/**
 * Where a cluster goes when its worker ends. In order: the state that it has reached; after a failure
 * the same phase again, later; without either the phase that is wanted now.
 */
export function afterWork(
  resource: ExclusiveResource,
  cluster: Cluster,
  ending: Ending,
  now: Instant,
): Return {
  const { name, state: phase, failures } = resource;
  const { why, failure, state: reached } = ending;
  const same = { resource: name, state: phase };
  if (why === "released" && reached !== undefined) {
    const note = failure === undefined ? undefined : { note: failure };
    return { resource: name, state: corrected(cluster, reached), failures: 0, ...note };
  }
  if (why === "lifetime") return overdue(resource);
  if (why === "released" && failure !== undefined && !isDoomedBy(cluster, phase)) {
    const restsUntil = after(now, backoffMs(failures));
    return { ...same, restsUntil, failures: failures + 1, note: failure };
  }
  if (why === "released") return { resource: name, state: nextPhase(cluster, phase), failures: 0 };
  // The worker has vanished or was cut off, and may still be at work.
  const restMs = why === "uncollected" || ending.confirmed ? 0 : resource.pool.policy.lockDelayMs;
  return { ...same, ...(restMs === 0 ? undefined : { restsUntil: after(now, restMs) }) };
}

/** A cluster that is not wanted, or that an operator keeps, is not lent although it is ready. */
function corrected({ wanted, hold }: Cluster, reached: string): string {
  const isGone = reached === tombstoneState || reached === brokenState;
  return !isGone && (wanted === "destroyed" || hold !== null) ? usedState : reached;
}

/** The work has not ended in time: the cluster is broken. A destruction goes on. */
export function overdue({ name, state }: ExclusiveResource): Return {
  if (state === destroyingState) return { resource: name, state };
  return { resource: name, state: brokenState, failures: 0, note: overdueText(state) };
}

export function overdueText(phase: string): string {
  return `${phase} took longer than allowed`;
}

function isDoomedBy({ wanted }: Cluster, phase: string): boolean {
  return wanted === "destroyed" && phase !== destroyingState;
}

function nextPhase(cluster: Cluster, phase: string): string {
  if (isDoomedBy(cluster, phase)) return usedState;
  if (phase === stoppingState && cluster.wanted === "ready") return resumingState;
  if (phase === resumingState && cluster.wanted === "hibernated") return stoppingState;
  return phase;
}

const backoffMsMin = 10_000;
const backoffMsMax = 600_000;

function backoffMs(failures: number): number {
  return Math.min(backoffMsMin * 2 ** Math.min(failures, 16), backoffMsMax);
}
