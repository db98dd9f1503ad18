import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import type { Hub, HubCluster } from "../../../src/api/hub-schemas.ts";
import { grouped } from "../parts/numbers.ts";

/** Lower comes first: what needs somebody, then what is on its way, then the rest. */
const order = ["broken", "resuming", "creating", "stopping", "destroying", "used", "busy", "free"];

export function urgencyOf({ state, stuck, lost, hold }: Cluster): number {
  if (lost !== null || stuck !== null) return -2;
  if (hold !== null) return -1;
  const place = order.indexOf(state);
  return place === -1 ? order.length : place;
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

/** `5 clusters on hub-east: 3 of Berth, 2 of others. The limit of 5 counts those of Berth.` */
export function onHubWords(
  { name, limit }: Pick<Hub, "name" | "limit">,
  clusters: readonly Pick<HubCluster, "cluster">[],
): string {
  const own = clusters.filter(({ cluster }) => cluster !== null).length;
  const others = clusters.length - own;
  const all = `${grouped(clusters.length)} ${clusters.length === 1 ? "cluster" : "clusters"} on ${name}`;
  const parts = `${grouped(own)} of Berth, ${grouped(others)} of others`;
  const counts =
    limit === null || others === 0 ? "" : `. The limit of ${grouped(limit)} counts Berth's only`;
  return `${all}: ${parts}${counts}`;
}

/** As a table shows it; a sum of such figures is what its reader would add up. */
export function inHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
