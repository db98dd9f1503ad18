import type { Cluster, ClusterPlan } from "../../../src/api/cluster-schemas.ts";
import type { HubClusterList } from "../../../src/api/hub-schemas.ts";
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

/** Lower comes first: what needs somebody, then what is on its way, then the rest. */
const order = ["broken", "resuming", "creating", "stopping", "destroying", "used", "busy", "free"];

export function urgencyOf(cluster: Cluster): number {
  const { state, hold } = cluster;
  if (isFailing(cluster)) return -2;
  if (hold !== null) return -1;
  const place = order.indexOf(state);
  return place === -1 ? order.length : place;
}

/** States that a worker ends by itself. */
const onTheirWay = ["creating", "resuming", "stopping", "destroying", "used"];

/** Each cluster counts once. */
export function kindOf({
  lease,
  state,
}: Pick<Cluster, "lease" | "state">): "lent" | "free" | "hibernated" | "changing" | "other" {
  if (lease !== null) return "lent";
  if (state === "free" || state === "hibernated") return state;
  return onTheirWay.includes(state) ? "changing" : "other";
}

/** Nothing is to be done; a plan may be read a moment before the clusters that it is of. */
export function isStockComplete(
  { size, underWay, nextSteps }: Pick<ClusterPlan, "size" | "underWay" | "nextSteps">,
  states: Pool["states"],
): boolean {
  const countOf = (state: string) => states[state] ?? 0;
  if (underWay.length + nextSteps.length > 0 || onTheirWay.some(countOf)) return false;
  return countOf("free") + countOf("hibernated") >= size;
}

/** It takes longer than this phase usually does. */
export function isSlow({ phase }: Pick<Cluster, "phase">, nowMs: number): boolean {
  const { since, usualSeconds } = phase;
  return usualSeconds !== null && nowMs - Date.parse(since) > usualSeconds * 1_000;
}

export function isFailing({ failures, stuck, lost }: Cluster): boolean {
  return failures > 0 || stuck !== null || Boolean(lost);
}

/** One line about what a person should know of it. */
export function messageOf({ message, lost, stuck, hold, failures }: Cluster): string {
  if (lost !== null) return `lost: ${lost}`;
  if (stuck !== null) return `stuck: ${stuck.join(", ") || message}`;
  if (hold !== null) {
    const who = hold.by === "" ? "" : ` by ${hold.by}`;
    return `kept for debugging${who}${hold.why === "" ? "" : `: ${hold.why}`}`;
  }
  if (failures > 0) return `attempt ${failures + 1}: ${message}`;
  return message;
}

/**
 * `3 of Berth, 2 others`. A worker looks once a minute, so it may
 * differ from what is counted above, and its reader has to see how old it is.
 */
export function onHubWords(items: HubClusterList["items"]): string {
  const others = items.filter(({ instance }) => instance === null).length;
  const ours = `${grouped(items.length - others)} of Berth`;
  return `${ours}${others === 0 ? "" : `, ${grouped(others)} ${others === 1 ? "other" : "others"}`}`;
}

/** As a table shows it; a sum of such figures is what its reader would add up. */
export function inHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Requests of the queue that wait for another pool first: a cluster may be ready for them. */
export function waitingElsewhere<T extends Pick<WaitingRequest, "reason">>(
  queue: readonly T[],
  pool: string,
): readonly T[] {
  return queue.filter(({ reason }) => reason.pool !== null && reason.pool !== pool);
}
