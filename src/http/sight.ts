/** What a caller may see of other spaces: counts, but no names. */
import type { FastifyRequest } from "fastify";
import type { Principal } from "../auth/principal.ts";
import { mayDo } from "../auth/roles.ts";
import type { Reader } from "../core/explain/out-of-use.ts";
import { hiddenHolder, type RequestId, type SpaceName } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";

/** Whether the caller may see whose request or lease this is. */
export type Sight = (id: RequestId) => boolean;

/**
 * The space that a call is limited to; undefined if it may see all. A call with the token of a lease
 * has no principal, and sees the space of that lease.
 */
export function onlySpace(
  { principal }: Pick<FastifyRequest, "principal">,
  state: State,
  own?: RequestId,
): SpaceName | undefined {
  return principal === null ? own && spaceOf(state, own) : limitedTo(principal);
}

/** Who is limited to a space learns what was done to a resource, but not by whom and why. */
export function readerFor(only: SpaceName | undefined): Reader {
  return only === undefined ? "all" : "space";
}

export function limitedTo({ role, space }: Principal): SpaceName | undefined {
  return mayDo(role, "observe") ? undefined : space;
}

export function sightOf(state: State, space: SpaceName | undefined): Sight {
  return space === undefined ? seesAll : (id) => spaceOf(state, id) === space;
}

const seesAll: Sight = () => true;

export function spaceOf(state: State, id: RequestId): SpaceName | undefined {
  const known = state.leases.get(id) ?? state.requests.get(id);
  return known === undefined ? state.ended.get(id)?.space : known.ask.space;
}

/** Whether a caller who is limited to a space, unless that is undefined, sees what an owner has. */
export function maySee(owner: SpaceName | undefined | null, only: SpaceName | undefined): boolean {
  return only === undefined || owner === null || owner === only;
}

/** The same without the names, if the caller may not see them. */
export function withoutNames<View extends { readonly id: RequestId; readonly holder: string }>(
  view: View,
  sees: Sight,
): View {
  return sees(view.id) ? view : { ...view, id: "" as RequestId, holder: hiddenHolder };
}
