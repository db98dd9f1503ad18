/**
 * Requests of one group that are granted together. Until all are there they stand in no queue and
 * hold up nobody. Then the last to have come stands in line for all of them, in its own place.
 */

import type { Ask } from "../model/command.ts";
import { addNeed, type Gang, type Need, type Request, type State } from "../model/state.ts";
import type { Wants } from "./alternatives.ts";

/** Makes a new request one of its company, if it has one; true: nobody is missing. */
export function joinGang(state: State, request: Request): boolean {
  const { group } = request.ask;
  if (group === undefined || group.size === 1) return true;
  const company = gangOf(state, request.ask) ?? { ...group, members: [] };
  state.gangs.set(group.name, company);
  company.members.push(request);
  request.gang = company;
  if (company.members.length < company.size) return false;
  Object.assign(request, combinedWants(company.members));
  return true;
}

/** Those of the same group that are there already. */
export function gangOf(state: State, { group }: Ask): Gang | undefined {
  return group === undefined || group.size === 1 ? undefined : state.gangs.get(group.name);
}

/** The one that stands in line for this one: itself, or the last of its company. */
export function leaderOf(request: Request): Request {
  return request.gang?.members.find(({ inLine }) => inLine) ?? request;
}

export function leaveGang(state: State, request: Request): void {
  const { gang } = request;
  if (gang === null) return;
  gang.members.splice(gang.members.indexOf(request), 1);
  if (gang.members.length === 0) state.gangs.delete(gang.name);
}

/** What all of them need, added up. */
export function combinedWants(all: readonly { readonly own: Wants }[]): Wants {
  const needs: Need[] = [];
  for (const need of all.flatMap(({ own }) => own.needs)) addNeed(needs, need);
  return { needs, alternatives: [needs] };
}
