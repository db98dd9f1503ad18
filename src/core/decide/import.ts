/** Imports resources from another broker: states, user data, holders and the order of last use. */

import type { ImportedResource } from "../model/command.ts";
import type { ClaimId, PoolName } from "../model/ids.ts";
import type { LeftOut, Outcome } from "../model/outcome.ts";
import { defaultPolicy } from "../model/policy.ts";
import type { Resource } from "../model/state.ts";
import { lastFence } from "./fence.ts";
import { emit, type Turn } from "./turn.ts";

/**
 * Imports in the given order, which becomes the order of lending. Skips resources that are held
 * here.
 */
export function importResources(turn: Turn, resources: readonly ImportedResource[]): Outcome {
  const left: LeftOut[] = [];
  let leases = 0;
  for (const imported of resources) {
    const { name: resource, pool } = imported;
    const known = turn.state.resources.get(resource);
    if (known?.sharing === "exclusive" && known.claim !== null) {
      left.push({ resource, pool, why: "held_already" });
    } else if (known !== undefined && usedSince(known, imported)) {
      left.push({ resource, pool, why: "used_since" });
    } else if (known === undefined ? !isWelcome(turn, imported) : known.sharing === "shared") {
      left.push({ resource, pool, why: "not_configured" });
    } else {
      carryOver(turn, imported, known);
      if (imported.holder !== "") leases += 1;
    }
  }
  return { type: "imported", leases, left };
}

/**
 * Whether the resource was used here after the other broker's record. A second import must not give
 * it back to a holder that has released it.
 */
function usedSince({ last }: Resource, { updatedAt }: ImportedResource): boolean {
  return last !== null && (updatedAt === undefined || last.at >= updatedAt);
}

/** A held resource is always imported, because its holder must not lose it. */
function isWelcome(turn: Turn, imported: ImportedResource): boolean {
  return imported.holder !== "" || mayBeMade(turn, imported);
}

function mayBeMade({ state }: Turn, { pool }: ImportedResource): boolean {
  return state.pools.get(pool)?.policy.dynamic !== undefined;
}

function carryOver(turn: Turn, imported: ImportedResource, known: Resource | undefined): void {
  const { name: resource, pool, state, userData, holder, expiresAt } = imported;
  const unlisted = known === undefined && !mayBeMade(turn, imported);
  if (known === undefined) add(turn, imported);
  emit(turn, {
    type: "resource-changed",
    resource,
    state,
    userData,
    ...(expiresAt === undefined ? undefined : { expiresAt }),
  });
  if (holder !== "") lend(turn, imported, known?.pool.name ?? pool);
  // The configuration does not list it: the holder keeps the resource until it releases it, then it
  // is removed.
  if (unlisted) emit(turn, { type: "resource-retired", resource });
}

function add(turn: Turn, imported: ImportedResource): void {
  const { name: resource, pool } = imported;
  const isNew = !turn.state.pools.has(pool);
  if (isNew) emit(turn, { type: "pool-defined", pool, policy: defaultPolicy });
  const dynamic = mayBeMade(turn, imported) ? { dynamic: true as const } : undefined;
  emit(turn, { type: "resource-added", pool, resource, ...dynamic });
  if (isNew) emit(turn, { type: "pool-retired", pool });
}

function lend(turn: Turn, { name: resource, state, holder, id }: ImportedResource, pool: PoolName) {
  const item = { pool, count: 1, state, into: state };
  const ask = { holder, items: [item], ttlMs: null, byName: true as const };
  const fence = lastFence(turn.state, turn.now) + 1;
  const claims = [{ id: "1" as ClaimId, resource, fence, into: state }];
  emit(turn, { type: "lease-granted", id, ask, claims });
}
