import Type from "typebox";
import { Problem } from "../../api/problem.ts";
import { leaseNotFound, leaseRevoked } from "../../core/decide/not-found.ts";
import { isMade } from "../../core/explain/cluster-view.ts";
import type { Cluster } from "../../core/model/cluster.ts";
import type { ClaimId, RequestId } from "../../core/model/ids.ts";
import type { Refusal } from "../../core/model/outcome.ts";
import type { Claim, State } from "../../core/model/state.ts";
import type { Context } from "../context.ts";
import { problemOf } from "../problems.ts";

export const ClaimParams = Type.Object({ id: Type.String(), claim: Type.String() });

export interface HeldCluster {
  readonly claim: Claim;
  readonly cluster: Cluster;
  readonly resource: string;
  readonly pool: string;
}

/** The claim of a lease that is in force. Throws a Problem. */
export async function heldCluster(
  context: Context,
  id: RequestId,
  claim: ClaimId,
): Promise<HeldCluster> {
  const found = await context.broker.read((state) => findHeld(state, id, claim));
  if ("code" in found) throw problemOf(found);
  return found;
}

function findHeld(state: State, id: RequestId, claimId: ClaimId): HeldCluster | Refusal {
  const lease = state.leases.get(id);
  if (lease === undefined) return leaseNotFound(state, id);
  if (lease.revoked !== null) return leaseRevoked(id, lease.revoked);
  const claim = lease.claims.find((one) => one.id === claimId);
  if (claim === undefined) return { code: "claim_not_found", id, claim: claimId };
  const { resource } = claim;
  if (!isMade(resource)) return { code: "not_a_cluster", resource: resource.name };
  const { name, pool, cluster } = resource;
  return { claim, cluster, resource: name, pool: pool.name };
}

/** The cluster of a worker. A lease that uses a cluster is refused: it must not act for its maker. */
export async function workedOn(
  context: Context,
  { id, claim }: { readonly id: string; readonly claim: string },
): Promise<HeldCluster> {
  const held = await heldCluster(context, id as RequestId, claim as ClaimId);
  if (held.claim.purpose !== "provision") throw notAWorker(held.resource);
  return held;
}

function notAWorker(resource: string): Problem {
  return new Problem({
    code: "not_its_worker",
    status: 403,
    message: `Cannot act for the maker of ${resource}: this lease is for using it, not for making it`,
    hint: "Only the worker that holds a cluster to make or destroy it can do this",
  });
}
