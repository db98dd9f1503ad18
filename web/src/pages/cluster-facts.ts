import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import type { HubClusterList } from "../../../src/api/hub-schemas.ts";
import { momentText } from "../parts/clock-time.ts";
import { grouped } from "../parts/numbers.ts";

/** Lower comes first: what needs somebody, then what is on its way, then the rest. */
const order = ["broken", "resuming", "creating", "stopping", "destroying", "used", "busy", "free"];

export function urgencyOf({ state, stuck, lost, hold }: Cluster): number {
  if (lost !== null || stuck !== null) return -2;
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
}: Pick<Cluster, "lease" | "state">): "lent" | "free" | "hibernated" | "on their way" | "other" {
  if (lease !== null) return "lent";
  if (state === "free" || state === "hibernated") return state;
  return onTheirWay.includes(state) ? "on their way" : "other";
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
    return `held${who}${hold.why === "" ? "" : `: ${hold.why}`}`;
  }
  if (failures > 0) return `attempt ${failures + 1}: ${message}`;
  return message;
}

/**
 * `At 14:03:07 it had 5 clusters: 3 of Berth, 2 of others (not counted above)`. Since then there
 * may be more or fewer.
 */
export function onHubWords({ items, foundAt }: Pick<HubClusterList, "items" | "foundAt">): string {
  const own = items.filter(({ cluster }) => cluster !== null).length;
  const others = items.length - own;
  const all = `${grouped(items.length)} ${items.length === 1 ? "cluster" : "clusters"}`;
  const when = foundAt === null ? "It had" : `At ${momentText(foundAt)} it had`;
  const unlimited = others > 0 ? " (not counted above)" : "";
  return `${when} ${all}: ${grouped(own)} of Berth, ${grouped(others)} of others${unlimited}`;
}

/** As a table shows it; a sum of such figures is what its reader would add up. */
export function inHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
