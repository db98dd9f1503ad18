import { usedState } from "../../../src/core/model/lifecycle.ts";
import { stateWord } from "../../../src/core/model/state-word.ts";

/** The looks of states. Any word may be a state; those that Berth knows have their own colour. */
const looks: Readonly<Record<string, string>> = {
  free: "free",
  waiting: "waiting",
  busy: "held",
  leased: "held",
  held: "held",
  revoking: "cooling",
  ending: "cooling",
  cooling: "cooling",
  dirty: "dirty",
  cleaning: "cleaning",
  quarantined: "bad",
  drained: "drained",
  creating: "making",
  resuming: "making",
  stopping: "cooling",
  hibernated: "cooling",
  used: "dirty",
  broken: "bad",
  destroying: "dirty",
  toBeDeleted: "drained",
  tombstone: "drained",
};

/** The order of states in bars and legends: working ones first, broken ones last. */
const order = [
  "busy",
  "leased",
  "revoking",
  "cooling",
  "cleaning",
  "dirty",
  "drained",
  "quarantined",
  "free",
];

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

/** The word of a state on the page. A used cluster is not used again. */
export function stateName(state: string): string {
  return state === usedState ? "to destroy" : stateWord(state);
}

const names: Readonly<Record<string, string>> = {
  dirty: "to clean",
  cleaning: "being cleaned",
};

/** What a state is called where the colours of the bars are explained. */
export function legendWord(state: string): string {
  return names[state] ?? stateName(state);
}
