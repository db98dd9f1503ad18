import type { Cluster } from "../../../src/api/cluster-schemas.ts";
import type { Hub, HubClusterList } from "../../../src/api/hub-schemas.ts";
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

/** `5 clusters on hub-east: 3 of Berth, 2 of others, seen 14:03:07. The limit of 5 counts Berth's only`. */
export function onHubWords(
  { name, limit }: Pick<Hub, "name" | "limit">,
  { items, foundAt }: Pick<HubClusterList, "items" | "foundAt">,
): string {
  const own = items.filter(({ cluster }) => cluster !== null).length;
  const others = items.length - own;
  const all = `${grouped(items.length)} ${items.length === 1 ? "cluster" : "clusters"} on ${name}`;
  const seen = foundAt === null ? "" : `, seen ${momentText(foundAt)}`;
  const counted = limit !== null && others > 0;
  return `${all}: ${grouped(own)} of Berth, ${grouped(others)} of others${seen}${
    counted ? `. The limit of ${grouped(limit)} counts Berth's only` : ""
  }`;
}

/** As a table shows it; a sum of such figures is what its reader would add up. */
export function inHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
