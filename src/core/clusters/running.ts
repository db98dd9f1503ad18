/** `running: auto`: as many clusters are awake as arrive while one wakes up. */
import { type ClusterPolicy, limitOfPhase } from "../model/cluster.ts";
import { resumingState } from "../model/lifecycle.ts";
import type { Pool } from "../model/state.ts";
import { after, type Instant, never } from "../model/time.ts";

/** Arrivals of this time count. */
const windowMs = 3_600_000;

/** How many clusters that nobody holds shall be awake, beside those for waiting requests. */
export function awakeOf(pool: Pool, policy: ClusterPolicy, now: Instant): number {
  const { running, size, hibernates } = policy;
  if (!hibernates) return size;
  if (running !== "auto") return Math.min(running, size);
  const recent = arrivalsSince(pool, after(now, -windowMs));
  return Math.min(size, Math.ceil((recent * resumeMs(pool, policy)) / windowMs));
}

function arrivalsSince({ clusters }: Pool, since: Instant): number {
  let count = 0;
  for (const at of clusters?.arrivals ?? []) if (at > since) count += 1;
  return count;
}

/** As long as recent clusters took, or a third of what they may take. */
function resumeMs({ clusters }: Pool, { limits }: ClusterPolicy): number {
  const known = clusters?.phases.resuming;
  if (known !== undefined && known.count > 0) return known.usualMs;
  return limitOfPhase(limits, resumingState) / 3;
}

/** When the oldest arrival that counts no longer does; `never` unless the pool sizes itself. */
export function arrivalEndsAt({ policy, clusters }: Pool, now: Instant): Instant {
  if (policy.cluster?.running !== "auto") return never;
  for (const at of clusters?.arrivals ?? []) {
    const endsAt = after(at, windowMs);
    if (endsAt > now) return endsAt;
  }
  return never;
}
