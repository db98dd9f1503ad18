/** How states look. Any word may be one; those that Berth knows have a colour of their own. */
const looks: Readonly<Record<string, string>> = {
  free: "free",
  waiting: "waiting",
  busy: "held",
  leased: "held",
  cooling: "resting",
  dirty: "dirty",
  cleaning: "cleaning",
  quarantined: "bad",
  drained: "drained",
  creating: "making",
  resuming: "making",
  hibernated: "resting",
  destroying: "dirty",
  toBeDeleted: "drained",
  tombstone: "drained",
};

/** The order in which bars and legends show them: what works first, what is broken last. */
const order = ["busy", "leased", "cooling", "cleaning", "dirty", "drained", "quarantined", "free"];

/** The suffix of the classes `look-…`. */
export function lookOf(state: string): string {
  return looks[state] ?? "other";
}

export function inOrder(states: Readonly<Record<string, number>>): readonly [string, number][] {
  const rank = (state: string) => {
    const place = order.indexOf(state);
    return place === -1 ? order.length - 1.5 : place;
  };
  return Object.entries(states).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
}

/** The states of a cluster between being wanted and being there. */
export const clusterStates = ["creating", "hibernated", "resuming", "destroying"] as const;
