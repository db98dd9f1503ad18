import type { Cluster } from "../../../src/api/cluster-schemas.ts";

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
