/**
 * What needs a person, as far as the state shows it: it does not end by itself, or it lasts longer
 * than usual. The page and `berth status` begin with this list.
 */
import { isOnlyLimit, limitOf, limitsFor } from "../gates/limits.ts";
import { stuckOn } from "../model/cluster.ts";
import type { SpaceName } from "../model/ids.ts";
import { creatingState, quarantinedState } from "../model/lifecycle.ts";
import { claimsKey, heldOf, type Quota, type Space } from "../model/space.ts";
import type { Pool, Request, State } from "../model/state.ts";
import { type Instant, roughDuration } from "../model/time.ts";
import { clustersOf, ownerOfCluster } from "./cluster-view.ts";
import { statesOf, waitReason } from "./explain.ts";
import { longWaitFrom } from "./long-wait.ts";
import { noteReason } from "./note-reason.ts";
import { emptySince, oldestIn, stuckIn } from "./pool-view.ts";

export type TroubleCode =
  | "pool_suspended"
  | "waits_long"
  | "quota_reached_long"
  | "quarantined"
  | "nothing_to_lend"
  | "not_cleaned"
  | "rate_at_minimum"
  | "cluster_destroy_stuck"
  | "cluster_fails"
  | "cluster_orphaned"
  | "hub_unreachable";

export interface Trouble {
  readonly code: TroubleCode;
  readonly kind: "pool" | "resource" | "cluster" | "orphan" | "space" | "hub";
  readonly name: string;
  /** The pool that has it. Absent: it is not of one pool. */
  readonly pool?: string;
  /** Pools without resources whose limits cause it: it is theirs too. */
  readonly limits?: readonly string[];
  /** Null if nobody knows. */
  readonly since: Instant | null;
  readonly text: string;
  /** When it was made, as its driver has written it. */
  readonly madeAt?: string;
  /** Only those who see this space may see it. Absent: everybody may; undefined: those who see all. */
  readonly space?: SpaceName | undefined;
}

/** In milliseconds, by pool: 99 of 100 recorded requests waited no longer. */
type UsualWaits = ReadonlyMap<string, number>;

export function troublesIn(
  state: State,
  now: Instant,
  usualWaits: UsualWaits = new Map(),
): Trouble[] {
  const troubles: Trouble[] = [];
  for (const pool of state.pools.values()) {
    const usual = usualWaits.get(pool.name) ?? null;
    const own = [
      ...suspensionOf(pool),
      ...longWaitOf(pool, now, usual),
      ...quarantinedIn(pool),
      ...notCleanedIn(pool, now),
      ...lowestRateOf(pool),
    ];
    troubles.push(...own.map((one) => ({ ...one, pool: pool.name })));
  }
  troubles.push(...clusterTroubles(state), ...orphanTroubles(state));
  troubles.push(...quotaTroubles(state, now), ...hubTroubles(state));
  return troubles;
}

function hubTroubles({ hubs }: State): Trouble[] {
  return [...hubs.values()].flatMap(({ name, outage, clusters }) => {
    if (outage === null) return [];
    const frozen = clusters.size === 0 ? "" : ` (${clusters.size} clusters are frozen)`;
    const text = `${firstLine(outage.error)}${frozen}`;
    // Its address and error are for those who may see hubs.
    return {
      ...{ code: "hub_unreachable", kind: "hub", name, since: outage.since, text },
      space: undefined,
    };
  });
}

function suspensionOf({ name, suspended }: Pool): Trouble[] {
  if (suspended === null) return [];
  const { why: text, at: since } = suspended;
  return [{ code: "pool_suspended", kind: "pool", name, since, text }];
}

function longWaitOf(pool: Pool, now: Instant, usualWaitMs: number | null): Trouble[] {
  const oldest = pool.waiting === 0 ? null : oldestIn(pool);
  if (oldest === null) return [];
  const { queuedAt: since } = oldest;
  if (now - since <= longestUsualOf(pool, usualWaitMs)) return [];
  // For how long says `since`: a wait that is written here would be another one than that of a ticking clock.
  const text = `${causeText(oldest, pool, now)}${pool.waiting} waiting${usualText(pool, usualWaitMs)}`;
  const above = fullLimitsOf(pool).filter((limit) => limit !== pool && isOnlyLimit(limit));
  const limits = above.length === 0 ? undefined : { limits: above.map(({ name }) => name) };
  return [{ code: "waits_long", kind: "pool", name: pool.name, since, text, ...limits }];
}

function fullLimitsOf(pool: Pool): readonly Pool[] {
  return [...limitsFor(pool)].filter((limit) => limit.used >= limitOf(limit));
}

/** Where to look first, if it is not the size of the pool. */
function causeText(oldest: Request, own: Pool, now: Instant): string {
  const { code, pool } = waitReason(oldest, now);
  if (pool !== own.name) return `waits for ${pool}: `;
  if (code === "paced" || code === "limit_reduced") return "waits for its rate: ";
  if (code !== "limit_reached") return "";
  const [limit = own] = fullLimitsOf(own);
  return limit === own ? "waits for its limit: " : `waits for the limit of ${limit.name}: `;
}

function usualText({ holds }: Pool, usualWaitMs: number | null): string {
  if (usualWaitMs !== null && usualWaitMs < 1_000) return "; usually nobody waits";
  if (usualWaitMs !== null) return `; 99 of 100 start within ${roughDuration(usualWaitMs)}`;
  return holds.count === 0 ? "" : `; a lease usually lasts ${roughDuration(holds.meanMs)}`;
}

function longestUsualOf({ holds, clusters }: Pool, usualWaitMs: number | null): number {
  const usualMs = longWaitFrom(holds.count === 0 ? null : holds.meanMs, usualWaitMs);
  // A request may have to wait for a new cluster.
  return Math.max(usualMs, clusters?.phases[creatingState].usualMs ?? 0);
}

function quarantinedIn({ buckets }: Pool): Trouble[] {
  const idle = buckets.get(quarantinedState)?.idle ?? [];
  return Array.from(idle, ({ name, note, changedAt: since }) => {
    return { code: "quarantined", kind: "resource", name, since, text: noteReason(note) };
  });
}

/** A cleaner takes one of them within this time, if it runs. */
const emptyMsMax = 5 * 60_000;

function notCleanedIn(pool: Pool, now: Instant): Trouble[] {
  const empty = emptySince(pool);
  if (empty !== null && now - empty >= emptyMsMax) return [emptyTrouble(pool, empty)];
  const { count, since } = stuckIn(pool, now);
  if (count === 0) return [];
  const { name } = pool;
  const text = `${count} of ${pool.members.size} have been out of service for more than an hour`;
  return [{ code: "not_cleaned", kind: "pool", name, since, text }];
}

function emptyTrouble(pool: Pool, since: Instant): Trouble {
  const { name, members } = pool;
  const states = Object.entries(statesOf(pool)).map(([state, count]) => `${count} ${state}`);
  const text = `none of its ${members.size} can be lent: ${states.join(", ")}`;
  return { code: "nothing_to_lend", kind: "pool", name, since, text };
}

function lowestRateOf({ name, policy, adaptive, pin, rateHistory }: Pool): Trouble[] {
  if (policy.adaptive?.mode !== "auto" || adaptive === null || pin !== null) return [];
  const last = rateHistory.at(-1);
  if (adaptive.rate > policy.adaptive.min || last?.cause.how !== "throttled") return [];
  const text = `${adaptive.rate} starts per minute is the least that is allowed`;
  return [{ code: "rate_at_minimum", kind: "pool", name, since: last.at, text }];
}

/** A single failure is tried again, and is no work for anybody. */
const clusterFailuresMin = 2;

function clusterTroubles(state: State): Trouble[] {
  const troubles: Trouble[] = [];
  for (const one of clustersOf(state)) {
    const { name, state: phase, failures, cluster } = one;
    const { since, message } = cluster;
    const stuck = stuckOn(cluster);
    const owner = ownerOfCluster(one);
    const of = { pool: one.pool.name, ...(owner === null ? undefined : { space: owner }) };
    if (stuck !== null) {
      const text = stuck.length === 0 ? "nobody knows what blocks it" : stuck.join(", ");
      troubles.push({ code: "cluster_destroy_stuck", kind: "cluster", name, since, text, ...of });
    } else if (failures >= clusterFailuresMin) {
      const text = `${phase} has failed ${failures} times: ${firstLine(message)}`;
      troubles.push({ code: "cluster_fails", kind: "cluster", name, since, text, ...of });
    }
  }
  return troubles;
}

/** Nobody owns them, so only those who see all spaces see them. */
function orphanTroubles({ orphanClusters }: State): Trouble[] {
  return Array.from(orphanClusters.values(), ({ name, template, createdAt, seenAt: since }) => {
    const madeAt = firstLine(createdAt);
    const text = `of template ${template}; no pool has it`;
    return {
      code: "cluster_orphaned",
      kind: "orphan",
      name,
      since,
      text,
      madeAt,
      space: undefined,
    };
  });
}

function quotaTroubles({ spaces, requests, pools }: State, now: Instant): Trouble[] {
  const full = new Map<Space, Quota>();
  for (const space of spaces.values()) {
    const quota = space.waiting === 0 ? undefined : reachedQuota(space, pools);
    if (quota !== undefined) full.set(space, quota);
  }
  if (full.size === 0) return [];
  const oldest = new Map<Space, Instant>();
  for (const { space, queuedAt, needs } of requests.values()) {
    const quota = space === null ? undefined : full.get(space);
    if (space === null || !needs.some(({ pool }) => pool.name === quota?.pool)) continue;
    oldest.set(space, Math.min(queuedAt, oldest.get(space) ?? queuedAt) as Instant);
  }
  return [...oldest].flatMap(([space, since]): Trouble[] => {
    const quota = full.get(space);
    if (quota === undefined || now - since <= longWaitFrom(0)) return [];
    const what = [quota.dimension, quota.pool].filter((word) => word !== undefined).join(" of ");
    const text = `it holds all ${quota.max} ${what} of its quota`;
    const { name } = space;
    const { pool } = quota;
    return [
      {
        ...{ code: "quota_reached_long", kind: "space", name, since, text, space: name },
        ...(pool !== undefined && { pool }),
      },
    ];
  });
}

function reachedQuota(space: Space, pools: State["pools"]): Quota | undefined {
  return space.policy.quotas.find(({ pool: name, dimension, max }) => {
    const pool = pools.get(name);
    return pool !== undefined && heldOf(space, pool, dimension ?? claimsKey) >= max;
  });
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
