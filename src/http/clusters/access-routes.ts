/** The access to a cluster: put by the worker that makes it, read by its holder only. */
import Type from "typebox";
import { AccessBody, ClusterAccess } from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import { leaseNotFound, leaseRevoked } from "../../core/decide/not-found.ts";
import { isMade } from "../../core/explain/cluster-view.ts";
import type { Cluster } from "../../core/model/cluster.ts";
import type { ClaimId, RequestId } from "../../core/model/ids.ts";
import type { Refusal } from "../../core/model/outcome.ts";
import type { Claim, State } from "../../core/model/state.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { problemOf } from "../problems.ts";
import { NoContent, problems } from "../responses.ts";
import { opened } from "./vault-problems.ts";

const ClaimParams = Type.Object({ id: Type.String(), claim: Type.String() });
const AccessQuery = Type.Object(
  {
    fence: Type.Optional(
      Type.String({
        pattern: "^\\d{1,20}$",
        description: "Refuse if the claim has another cluster by now, with a larger fence",
      }),
    ),
  },
  { additionalProperties: false },
);

export function accessRoutes(app: App, context: Context): void {
  readRoute(app, context);
  putRoute(app, context);
  replaceRoute(app, context);
}

interface Held {
  readonly claim: Claim;
  readonly cluster: Cluster;
  readonly resource: string;
  readonly pool: string;
}

/** The claim of a lease that is in force. Throws a Problem. */
async function heldCluster(context: Context, id: RequestId, claim: ClaimId): Promise<Held> {
  const found = await context.broker.read((state) => findHeld(state, id, claim));
  if ("code" in found) throw problemOf(found);
  return found;
}

function findHeld(state: State, id: RequestId, claimId: ClaimId): Held | Refusal {
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

function readRoute(app: App, context: Context): void {
  const schema = {
    tags: ["leases"],
    summary: "The access to the cluster of a claim, for its holder until the release",
    params: ClaimParams,
    querystring: AccessQuery,
    response: { 200: ClusterAccess, ...problems(401, 403, 404, 409, 410, 503) },
  };
  app.get("/v1/leases/:id/claims/:claim/access", { schema }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const { claim, cluster, resource } = await heldCluster(
      context,
      id,
      request.params.claim as ClaimId,
    );
    if (claim.purpose !== "use") throw problemOf({ code: "claim_not_found", id, claim: claim.id });
    const { fence } = request.query;
    if (fence !== undefined && Number(fence) !== claim.fence) throw otherCluster(claim);
    const bundle = await opened(context.vault.access.open(cluster.instance));
    if (bundle === undefined || hasExpired(bundle.expiresAt, context.broker.now()))
      throw notReady(resource);
    reply.header("cache-control", "no-store");
    return {
      claim: claim.id,
      resource,
      fence: claim.fence,
      kubeconfig: bundle.kubeconfig,
      username: bundle.username ?? null,
      password: bundle.password ?? null,
      apiUrl: cluster.apiUrl,
      version: cluster.version,
      expiresAt: bundle.expiresAt ?? null,
    };
  });
}

function putRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Store the access to a cluster, with the token of the worker's own lease",
    params: ClaimParams,
    body: AccessBody,
    response: { 204: NoContent, ...problems(400, 401, 403, 404, 409, 410, 503) },
  };
  app.put("/v1/leases/:id/claims/:claim/access", { schema }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const held = await heldCluster(context, id, request.params.claim as ClaimId);
    if (held.claim.purpose !== "provision") throw notAWorker(held.resource);
    await opened(context.vault.access.put(held.cluster.instance, request.body));
    reply.code(204);
  });
}

/** The cluster of the claim is destroyed, and the lease waits for another one with a larger fence. */
function replaceRoute(app: App, context: Context): void {
  const schema = {
    tags: ["leases"],
    summary: "Get another cluster in place of this one, in the same lease",
    params: ClaimParams,
    response: { 204: NoContent, ...problems(401, 403, 404, 409, 410, 503) },
  };
  app.post("/v1/leases/:id/claims/:claim/replace", { schema }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const claim = request.params.claim as ClaimId;
    const outcome = await context.broker.submit(
      { type: "cluster-replace", id, claim },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    reply.code(204);
  });
}

function hasExpired(expiresAt: string | undefined, nowMs: number): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= nowMs;
}

function notReady(resource: string): Problem {
  return new Problem({
    code: "access_not_ready",
    status: 503,
    message: `Cannot show the access to ${resource}: it is being made`,
    hint: "Try again in a moment",
    facts: { resource },
  });
}

function otherCluster({ fence, resource }: Claim): Problem {
  return new Problem({
    code: "cluster_replaced",
    status: 409,
    message: `Cannot show the access of an earlier cluster: the claim has ${resource.name} now, with fence ${fence}`,
    hint: "Read the access again without fence, and stop using the earlier cluster",
    facts: { fence, resource: resource.name },
  });
}

function notAWorker(resource: string): Problem {
  return new Problem({
    code: "not_its_worker",
    status: 403,
    message: `Cannot store the access to ${resource}: this lease is for using it, not for making it`,
    hint: "Only the worker that makes a cluster stores its access",
  });
}
