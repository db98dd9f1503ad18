/** What of a pool is out of service until somebody decides, and why. */
import type { Resource } from "../../../src/api/schemas.ts";
import { noteReason } from "../../../src/core/explain/note-reason.ts";
import { drainWords } from "./resource-facts.ts";

/** What cools down or is cleaned is back by itself. */
const outStates: readonly string[] = ["quarantined", "drained"];

/** Those that nobody holds, the latest first. */
export function outIn(resources: readonly Resource[]): readonly Resource[] {
  return resources
    .filter(({ state }) => outStates.includes(state))
    .toSorted((a, b) => b.changedAt.localeCompare(a.changedAt));
}

/** The same in the counts of a pool, which are read before its resources. */
export function countOut(states: Readonly<Record<string, number>>): number {
  return outStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);
}

/** Who took it out and why, in one line; empty if nobody has said it, or if the reader may not know. */
export function whyOut(resource: Pick<Resource, "drainedBy" | "note">): string {
  return drainWords(resource) || noteReason(resource.note);
}
