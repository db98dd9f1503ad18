/** Whether a request could have what it needs of a pool now, in a few words. */
import type { Explanation, Resource, WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";
import type { Room } from "./fit-facts.ts";
import { isPaced } from "./flow-facts.ts";

type Need = Explanation["needs"][number];
type Reason = WaitingRequest["reason"];

export interface Supply {
  /** Nothing of the pool itself is missing. */
  readonly isThere: boolean;
  readonly words: string;
}

/** What holds it back is the same as in the reason of the request: a limit, a pace, or those ahead. */
export function supplyOf(need: Need, reason: Reason): Supply {
  const { available, needed, free, size, state, rooms } = need;
  // Several share each resource, so none of them is simply free.
  if (rooms !== undefined) return { isThere: available >= needed, words: fitWords(need, rooms) };
  const there = `${grouped(free)} of ${grouped(size)} ${state}`;
  const gate = reason.pool === need.pool && free > 0 ? gateWords(need, reason) : "";
  if (gate !== "") return { isThere: false, words: `${there}, but ${gate}` };
  if (available >= needed) return { isThere: true, words: "enough is free" };
  if (free === 0) return { isThere: false, words: `none of ${grouped(size)} ${state}` };
  if (available === 0) return { isThere: false, words: `${there}, but requests ahead go first` };
  const kept = free > available ? `, ${grouped(free - available)} reserved for others` : "";
  return { isThere: false, words: there + kept };
}

/** The limit that is reached; undefined: none holds the request back. */
export function fullLimitOf(need: Need, reason: Reason): Need["limits"][number] | undefined {
  if (reason.code !== "limit_reached" || reason.pool !== need.pool) return undefined;
  return need.limits.find(({ used, limit }) => used >= limit);
}

function gateWords(need: Need, reason: Reason): string {
  const full = fullLimitOf(need, reason);
  if (full !== undefined) {
    return `${full.pool} is full (${grouped(full.used)}/${grouped(full.limit)})`;
  }
  if (reason.code === "quota_reached") return "its quota holds it back";
  if (!isPaced(reason.code)) return "";
  const by = need.nextBy === null || need.nextBy === need.pool ? "" : ` of ${need.nextBy}`;
  return `the pace${by} holds it back`;
}

const namedMax = 2;

function fitWords({ available, needed, size }: Need, rooms: readonly Room[]): string {
  const reserved = available === 0 ? rooms.filter(fitsUnreserved) : [];
  if (reserved.length > 0) {
    const names = reserved.slice(0, namedMax).map(({ resource }) => resource);
    const more = reserved.length - names.length;
    const where = [...names, ...(more === 0 ? [] : [`${grouped(more)} more`])].join(" and ");
    return `would fit on ${where}, reserved for others`;
  }
  const fits = `fits on ${available === 0 ? "none" : grouped(available)} of ${grouped(size)} now`;
  return available < needed && needed > 1 ? `${fits}, ${grouped(needed)} needed` : fits;
}

/** It has enough, all but what is reserved for requests ahead. */
function fitsUnreserved({ unfit, short }: Room): boolean {
  if (unfit !== undefined || short.length === 0) return false;
  return short.every(({ asked, free, reservedAhead = 0 }) => asked <= free + reservedAhead);
}

/** Whether some resource is cleaned, or out of service. */
export function someAside(states: Need["states"]): boolean {
  return ["cleaning", "quarantined", "drained"].some((state) => (states[state] ?? 0) > 0);
}

/** Nobody uses it, and nobody gets it before somebody returns it. */
export function isAside({ lease, drained, state }: Resource): boolean {
  return lease === null && (drained || state === "quarantined");
}
