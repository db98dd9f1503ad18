/** Carries over what another broker had: states, user data, holders, and who was touched when. */
import { serveAll } from "./come-back.ts";
import type { ImportedResource } from "./command.ts";
import type { ClaimId } from "./ids.ts";
import type { LeftOut, Outcome } from "./outcome.ts";
import type { Resource } from "./state.ts";
import { emit, type Turn } from "./turn.ts";

/** In the order given, which becomes the order in which they are lent. Held ones are left alone. */
export function importResources(turn: Turn, resources: readonly ImportedResource[]): Outcome {
  const left: LeftOut[] = [];
  let leases = 0;
  for (const imported of resources) {
    const { name: resource, pool } = imported;
    const known = turn.state.resources.get(resource);
    if (known?.claim !== null && known !== undefined) {
      left.push({ resource, pool, why: "held_already" });
    } else if (known === undefined && !mayBeMade(turn, imported)) {
      left.push({ resource, pool, why: "not_configured" });
    } else {
      carryOver(turn, imported, known);
      if (imported.holder !== "") leases += 1;
    }
  }
  serveAll(turn, new Set(turn.state.pools.values()));
  return { type: "imported", leases, left };
}

function mayBeMade({ state }: Turn, { pool }: ImportedResource): boolean {
  return state.pools.get(pool)?.policy.dynamic !== undefined;
}

function carryOver(turn: Turn, imported: ImportedResource, known: Resource | undefined): void {
  const { name: resource, pool, state, userData, holder, id, expiresAt } = imported;
  if (known === undefined) emit(turn, { type: "resource-added", pool, resource, dynamic: true });
  emit(turn, {
    type: "resource-changed",
    resource,
    state,
    userData,
    ...(expiresAt === undefined ? undefined : { expiresAt }),
  });
  if (holder === "") return;
  const item = { pool: known?.pool.name ?? pool, count: 1, state, into: state };
  const ask = { holder, items: [item], ttlMs: null, byName: true as const };
  const fence = turn.state.fence + 1;
  const claims = [{ id: "1" as ClaimId, resource, fence, into: state }];
  emit(turn, { type: "lease-granted", id, ask, claims });
}
