/** The access to a cluster, read by its holder only. */
import Type from "typebox";
import { ClusterAccess } from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import type { ClaimId, RequestId } from "../../core/model/ids.ts";
import type { Claim } from "../../core/model/state.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { problemOf } from "../problems.ts";
import { NoContent, problems } from "../responses.ts";
import { ClaimParams, heldCluster } from "./held-cluster.ts";
import { opened } from "./vault-problems.ts";

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
  replaceRoute(app, context);
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
