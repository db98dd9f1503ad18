/** What happens to clusters now, and what the plan waits for, as short texts. */
import { limitOf, limitsFor } from "../gates/limits.ts";
import { type Cluster, isPhase, type Phase, stuckOn } from "../model/cluster.ts";
import { isFrozen } from "../model/hub.ts";
import { creatingState, destroyingState } from "../model/lifecycle.ts";
import type { ExclusiveResource, Pool } from "../model/state.ts";
import { type Instant, never, roughDuration } from "../model/time.ts";
import { hubsText } from "./placement.ts";
import { clustersIn } from "./snapshot.ts";

export interface Made extends ExclusiveResource {
  readonly cluster: Cluster;
}

/** How long a phase of the pool usually takes; null before the first one has ended. */
export function usualMs({ clusters }: Pool, phase: Phase): number | null {
  const known = clusters?.phases[phase];
  return known === undefined || known.count === 0 ? null : known.usualMs;
}

/** `resuming ocp-7 for 3m, usually takes 5m`. Only with `details` what the driver says. */
export function workText(resource: Made, now: Instant, details = true): string {
  return `${resource.state} ${resource.name}${timeText(resource, now, details)}`;
}

/** ` for 3m, usually takes 5m` */
function timeText(resource: Made, now: Instant, details: boolean): string {
  const { state, cluster, claim, failures, pool } = resource;
  if (!isPhase(state)) return "";
  if (isFrozen(resource) && resource.hub?.outage != null) {
    const { name, outage } = resource.hub;
    const why = details ? `: ${outage.error}` : "";
    return `; its hub ${name} cannot be reached for ${roughDuration(now - outage.since)}${why}`;
  }
  const stuck = stuckOn(cluster);
  if (stuck !== null) {
    const blocking = stuck.length === 0 || !details ? "" : `: ${stuck.join(", ")}`;
    return `, stuck for ${roughDuration(now - cluster.since)}${blocking}`;
  }
  if (claim === null && failures > 0) {
    const why = details ? cluster.message : "";
    return `, failed ${failures === 1 ? "once" : `${failures} times`}${why && `: ${why}`}`;
  }
  if (claim === null && cluster.deadlineAt === never) return ", which waits for a worker";
  const usual = usualMs(pool, state);
  const elapsed = roughDuration(now - cluster.since);
  return ` for ${elapsed}${usual === null ? "" : `, usually takes ${roughDuration(usual)}`}`;
}

/** Why no further cluster can be made now; null if nothing is in the way. */
export function limitText(pool: Pool, now: Instant): string | null {
  const { max, concurrent } = pool.policy.cluster ?? {};
  const clusters = clustersIn(pool);
  if (max === 0) return `${pool.name} makes no clusters now (max: 0)`;
  if (max !== undefined && clusters.length >= max) {
    return `${pool.name} has ${clusters.length} of at most ${max} clusters`;
  }
  for (const limit of limitsFor(pool)) {
    if (limit.used >= limitOf(limit)) {
      return `${limit.name} limit reached (${limit.used}/${limitOf(limit)})`;
    }
  }
  const full = hubsText(pool, now);
  if (full !== null) return `No cluster can be made on a hub now: ${full}`;
  return concurrent === undefined ? null : busyText(pool, concurrent);
}

/** Why no cluster can be created or destroyed now; null if nothing is in the way. */
export function busyText(pool: Pool, concurrent: number): string | null {
  const isBusy = (one: Made) =>
    (one.state === creatingState || one.state === destroyingState) && !isFrozen(one);
  const busy = clustersIn(pool).filter(isBusy).length;
  if (busy < concurrent) return null;
  return `${busy} of at most ${concurrent} clusters of ${pool.name} are being created or destroyed`;
}
