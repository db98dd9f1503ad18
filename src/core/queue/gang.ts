/**
 * Gangs: requests of one group that are granted together. Until all are there they stand in no queue
 * and hold up nobody. Then the last to have come leads: it stands in line for all of them, at its own
 * rank.
 */
import type { Ask } from "../model/command.ts";
import type { Gang, Need, Request, State } from "../model/state.ts";
import { addNeed, type Wants } from "./alternatives.ts";

/** The members that are there already; undefined: it is in no gang, or the first of it. */
export function gangOf(state: State, { group }: Ask): Gang | undefined {
  return group === undefined || group.size === 1 ? undefined : state.gangs.get(group.name);
}

/** The request that stands in line for this one: the leader of its gang, or itself. */
export function leaderOf(request: Request): Request {
  return request.gang?.members.find(({ inLine }) => inLine) ?? request;
}

/** What all members need, added up. */
export function combinedWants(members: readonly { readonly own: Wants }[]): Wants {
  const needs: Need[] = [];
  for (const need of members.flatMap(({ own }) => own.needs)) addNeed(needs, need);
  return { needs, alternatives: [needs] };
}
