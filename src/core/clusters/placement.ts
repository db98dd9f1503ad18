/**
 * Where a new cluster is made. First the hubs that cannot make it now are left out, each with a reason;
 * then the best of the others is taken: one that is not the only place of what other requests wait for, then one
 * whose back end has a cluster ready, else the one with the largest free share, less what has failed there lately.
 */
import { type ClusterPolicy, credentialsParameter, type Parameters } from "../model/cluster.ts";
import { type Hub, hubStateOf, limitOfHub } from "../model/hub.ts";
import { creatingState } from "../model/lifecycle.ts";
import { fillPlaceholders } from "../model/placeholders.ts";
import type { Pool } from "../model/state.ts";
import { type Instant, roughDuration } from "../model/time.ts";
import { supports, type Version, versionIn } from "../model/version.ts";

/**
 * The best hub for a cluster with these parameters; undefined if none can make it now. `leftOutBy`: how many clusters that
 * requests wait for find no place any longer if it is made there.
 */
export function placeOnHub(
  pool: Pool,
  policy: ClusterPolicy,
  parameters: Parameters,
  now: Instant,
  leftOutBy: (hub: Hub) => number = () => 0,
): Hub | undefined {
  const possible = hubsFor(pool, policy, parameters, now).filter((hub) => roomOn(hub) > 0);
  if (possible.length < 2) return possible[0];
  const scored = possible.map((hub) => {
    return { hub, leftOut: leftOutBy(hub), pools: hub.pools.size, ...scoreOf(hub, policy, now) };
  });
  scored.sort(
    (a, b) =>
      a.leftOut - b.leftOut ||
      b.ready - a.ready ||
      b.score - a.score ||
      a.pools - b.pools ||
      (a.hub.name < b.hub.name ? -1 : 1),
  );
  return scored[0]?.hub;
}

/** The hubs that can make a cluster with these parameters, as soon as they have room. */
export function hubsFor(
  { hubs }: Pool,
  policy: ClusterPolicy,
  parameters: Parameters,
  now: Instant,
): readonly Hub[] {
  const version = versionOf(policy, parameters);
  return [...(hubs ?? [])].filter((hub) => closedBecause(hub, policy, now, version) === null);
}

/** How many more clusters fit on the hubs that can make clusters of the pool now. */
export function roomOnHubs(pool: Pool, now: Instant): number {
  const policy = pool.policy.cluster;
  if (pool.hubs === null || policy === undefined) return Number.POSITIVE_INFINITY;
  return openHubs(pool, now).reduce((room, hub) => room + roomOn(hub), 0);
}

/** The hubs that can make clusters of the pool, as soon as they have room. */
export function openHubs(pool: Pool, now: Instant): readonly Hub[] {
  const policy = pool.policy.cluster;
  if (policy === undefined) return [];
  return [...(pool.hubs ?? [])].filter((hub) => closedBecause(hub, policy, now) === null);
}

export function roomOn(hub: Hub): number {
  return Math.max(0, limitOfHub(hub) - hub.clusters.size);
}

/** Why the hub makes no cluster for the pool now; null if it does, once it has room. */
export function closedBecause(
  hub: Hub,
  { needs = [] }: ClusterPolicy,
  now: Instant,
  version?: Version,
): string | null {
  const { findings, outage, retired } = hub;
  if (retired) return "it is no longer in the configuration";
  const state = hubStateOf(hub);
  if (state !== "active") return `it is ${state}`;
  if (outage !== null) return `it cannot be reached for ${roughDuration(now - outage.since)}`;
  if (findings === null) return "no probe has answered yet";
  const missing = needs.find((kind) => findings.kinds?.includes(kind) === false);
  if (missing !== undefined) return `it does not serve ${missing}`;
  const { versions = [] } = findings;
  if (version !== undefined && !supports(versions, version))
    return `it makes ${versions.join(", ")}`;
  return null;
}

/** Of the release that the template makes with these parameters; undefined if it does not say. */
export function versionOf({ release }: ClusterPolicy, parameters: Parameters): Version | undefined {
  if (release === undefined) return undefined;
  const { [credentialsParameter]: _, ...given } = parameters;
  const text = fillPlaceholders(release, (name) => {
    return given[name.replace(/^parameters\./, "")] ?? "";
  });
  return versionIn(String(text));
}

/** The versions that hubs of the pool make; undefined while one of them has not told. */
export function versionsFor({ hubs }: Pool): readonly string[] | undefined {
  const known = new Set<string>();
  for (const { findings } of hubs ?? []) {
    if (findings?.versions === undefined || findings.versions.length === 0) return undefined;
    for (const version of findings.versions) known.add(version);
  }
  return hubs === null || hubs.size === 0 ? undefined : [...known];
}

/** A hub without a limit counts as one with this limit. */
const usualLimit = 1_000;
/** A failure counts for this long. */
const failureMs = 3_600_000;

function scoreOf(hub: Hub, { template }: ClusterPolicy, now: Instant) {
  let begun = 0;
  for (const { state, cluster } of hub.clusters) {
    if (state === creatingState && cluster?.template === template) begun += 1;
  }
  const ready = (hub.findings?.ready?.[template] ?? 0) > begun ? 1 : 0;
  const limit = hub.spec.limit ?? Math.max(usualLimit, 2 * hub.clusters.size);
  const freeShare = limit === 0 ? 0 : (limit - hub.clusters.size) / limit;
  return { ready, score: freeShare * (1 - failureRateOf(hub, now)) };
}

/** The part of the last creations that has failed, from 0 to 1. One alone says little. */
export function failureRateOf({ creations }: Hub, now: Instant): number {
  const recent = creations.filter(({ at }) => now - at < failureMs);
  return recent.filter(({ failed }) => failed).length / (recent.length + 1);
}

/** `hub-east is full (3/3); hub-west cannot be reached for 5m`; null without hubs, or if one has room. */
export function hubsText(pool: Pool, now: Instant): string | null {
  const policy = pool.policy.cluster;
  if (pool.hubs === null || policy === undefined || roomOnHubs(pool, now) > 0) return null;
  if (pool.hubs.size === 0) return `no hub of ${pool.name} exists`;
  const states = Array.from(pool.hubs, (hub) => {
    const closed = closedBecause(hub, policy, now);
    const { size } = hub.clusters;
    return closed === null
      ? `${hub.name} is full (${size}/${limitOfHub(hub)})`
      : `${hub.name}: ${closed}`;
  });
  return states.join("; ");
}
