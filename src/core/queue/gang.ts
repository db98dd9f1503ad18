/**
 * Requests of one group that are granted together. Until all are there they stand in no queue and
 * hold up nobody. Then the last to have come stands in line for all of them, in its own place.
 */

import type { Ask } from "../model/command.ts";
import { addNeed, type Company, type Need, type Request, type State } from "../model/state.ts";
import type { Ways } from "./alternatives.ts";

/** Makes a new request one of its company, if it has one; true: nobody is missing. */
export function join(state: State, request: Request): boolean {
  const { group } = request.ask;
  if (group === undefined || group.size === 1) return true;
  const company = companyOf(state, request.ask) ?? { ...group, members: [] };
  state.companies.set(group.name, company);
  company.members.push(request);
  request.company = company;
  if (company.members.length < company.size) return false;
  Object.assign(request, together(company.members));
  return true;
}

/** Those of the same group that are there already. */
export function companyOf(state: State, { group }: Ask): Company | undefined {
  return group === undefined || group.size === 1 ? undefined : state.companies.get(group.name);
}

/** The one that stands in line for this one: itself, or the last of its company. */
export function speakerOf(request: Request): Request {
  return request.company?.members.find(({ inLine }) => inLine) ?? request;
}

export function part(state: State, request: Request): void {
  const { company } = request;
  if (company === null) return;
  company.members.splice(company.members.indexOf(request), 1);
  if (company.members.length === 0) state.companies.delete(company.name);
}

/** What all of them need, added up. */
export function together(all: readonly { readonly own: Ways }[]): Ways {
  const needs: Need[] = [];
  for (const need of all.flatMap(({ own }) => own.needs)) addNeed(needs, need);
  return { needs, options: [needs] };
}
