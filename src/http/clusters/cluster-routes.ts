/** Clusters: what there is, the logs of failed ones, and what operators do with single ones. */
import type { FastifyRequest } from "fastify";
import Type from "typebox";
import {
  AdoptBody,
  Cluster,
  ClusterLogs,
  ClusterPlan,
  HoldBody,
  OperatorBody,
} from "../../api/cluster-schemas.ts";
import { limits } from "../../api/limits.ts";
import { Problem } from "../../api/problem.ts";
import { Page } from "../../api/schemas.ts";
import { forbidden } from "../../auth/refusals.ts";
import { mayDo } from "../../auth/roles.ts";
import { poolNotFound, resourceNotFound } from "../../core/decide/not-found.ts";
import {
  type ClusterView,
  clustersOf,
  clusterView,
  isMade,
} from "../../core/explain/cluster-view.ts";
import type { Command } from "../../core/model/command.ts";
import type { PoolName, ResourceName } from "../../core/model/ids.ts";
import type { State } from "../../core/model/state.ts";
import { callerOf } from "../authorize.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { pageFields, pageOf } from "../paging.ts";
import { invalid, problemOf } from "../problems.ts";
import { auditFields, auditReason, durationIn, NameParams } from "../request.ts";
import { NoContent, problems } from "../responses.ts";
import { limitedTo, onlySpace, sightOf } from "../sight.ts";
import { timestamp } from "../timestamp.ts";
import { renderCluster, renderPlan } from "./render.ts";

/** Names of new resources have the form of those in the configuration. */
const NewNameParams = Type.Object({
  name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$", maxLength: limits.nameLengthMax }),
});
const handlesField = {
  handles: Type.Optional(
    Type.Literal("true", { description: "For workers: with what its driver needs to find it" }),
  ),
};
const filter = Type.Optional(Type.String({ maxLength: limits.nameLengthMax }));
const Query = Type.Object(
  { pool: filter, state: filter, template: filter, ...pageFields, ...handlesField },
  { additionalProperties: false },
);
const OneQuery = Type.Object(handlesField, { additionalProperties: false });
const ClusterPage = Page(Cluster);
const WhyQuery = Type.Object(auditFields, { additionalProperties: false });
const holdRange = { minMs: 60_000, maxMs: 30 * 24 * 3_600_000 };

export function clusterRoutes(app: App, context: Context): void {
  listRoute(app, context);
  planRoute(app, context);
  oneRoute(app, context);
  logsRoute(app, context);
  holdRoutes(app, context);
  endRoutes(app, context);
  adoptRoute(app, context);
}

function listRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "All clusters, or those of a pool, in a state or of a template",
    querystring: Query,
    response: { 200: ClusterPage, ...problems(400) },
  };
  app.get("/v1/clusters", { schema }, (request) =>
    context.broker.read((state) => {
      const { pool, state: wanted, template } = request.query;
      const found = clustersOf(state).filter((one) => {
        if (pool !== undefined && one.pool.name !== pool) return false;
        if (wanted !== undefined && one.state !== wanted) return false;
        return template === undefined || one.cluster.template === template;
      });
      const viewer = viewerOf(context, request, state);
      const handle = handleFor(request);
      return pageOf(
        found,
        request.query,
        ({ name }) => name,
        (one) => ({ ...renderCluster(clusterView(one), viewer), ...handle(one) }),
      );
    }),
  );
}

function planRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "What a pool of clusters keeps, and what it does now and next",
    params: NameParams,
    response: { 200: ClusterPlan, ...problems(404, 409) },
  };
  app.get("/v1/pools/:name/plan", { schema }, async (request) => {
    const name = request.params.name as PoolName;
    const only = limitedTo(callerOf(request));
    const found = await broker.read((state, now) => {
      const pool = state.pools.get(name);
      if (pool === undefined) return problemOf(poolNotFound(state, name));
      return renderPlan(pool, now, only) ?? notOfClusters(pool.name);
    });
    if (found instanceof Problem) throw found;
    return found;
  });
}

function notOfClusters(pool: string): Problem {
  return new Problem({
    code: "not_a_cluster",
    status: 409,
    message: `Cannot show the plan of ${pool}: the pool has no template`,
    hint: "Only pools that make their resources have a plan",
  });
}

function viewerOf({ broker }: Context, request: FastifyRequest, state: State) {
  const only = onlySpace(request, state);
  return { now: broker.now(), only, sees: sightOf(state, only) };
}

function oneRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "One cluster",
    params: NameParams,
    querystring: OneQuery,
    response: { 200: Cluster, ...problems(400, 404, 409) },
  };
  app.get("/v1/clusters/:name", { schema }, async (request) => {
    const handle = handleFor(request);
    const found = await find(context, request);
    const name = found.name as ResourceName;
    const resource = await context.broker.read(({ resources }) => resources.get(name));
    return { ...found, ...(isMade(resource) ? handle(resource) : undefined) };
  });
}

type Handle = (one: { readonly cluster: { readonly handle: string | null } }) => object | undefined;

/** Only a worker needs it. Throws a Problem if the caller is none. */
function handleFor(request: FastifyRequest): Handle {
  const { handles } = request.query as { readonly handles?: "true" };
  if (handles === undefined) return () => undefined;
  const caller = callerOf(request);
  if (!mayDo(caller.role, "clean")) throw forbidden(caller, "clean");
  return ({ cluster: { handle } }) =>
    handle === null ? undefined : { handle: JSON.parse(handle) };
}

/** Throws a Problem if there is no cluster of that name. */
async function find(context: Context, request: FastifyRequest) {
  const { name } = request.params as { readonly name: string };
  const found = await context.broker.read((state) => {
    const view = viewIn(state, name);
    return view instanceof Problem ? view : renderCluster(view, viewerOf(context, request, state));
  });
  if (found instanceof Problem) throw found;
  return found;
}

function viewIn(state: State, name: string): ClusterView | Problem {
  const resource = state.resources.get(name as ResourceName);
  if (resource === undefined) return problemOf(resourceNotFound(state, name as ResourceName));
  if (isMade(resource)) return clusterView(resource);
  return problemOf({ code: "not_a_cluster", resource: resource.name });
}

/** Logs stay after their cluster is gone, so an unknown name has none and is no error. */
function logsRoute(app: App, { clusterLogs }: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "The logs that were collected of a cluster, the latest first",
    params: NameParams,
    response: { 200: ClusterLogs, ...problems(503) },
  };
  app.get("/v1/clusters/:name/logs", { schema }, (request) => {
    const { name } = request.params;
    const only = limitedTo(callerOf(request));
    const seen = clusterLogs.of(name).filter(({ space }) => only === undefined || space === only);
    const entries = seen.map(({ atMs, instance, why, text }) => {
      return { at: timestamp(atMs as Parameters<typeof timestamp>[0]), instance, why, text };
    });
    return { name, entries };
  });
}

async function submit(context: Context, request: FastifyRequest, command: Command): Promise<void> {
  const outcome = await context.broker.submit(command, originOf(request));
  if (outcome.type === "refused") throw problemOf(outcome.refusal);
}

function holdRoutes(app: App, context: Context): void {
  const hold = {
    tags: ["clusters"],
    summary: "Keep a cluster for debugging: it is neither lent nor destroyed until then",
    params: NameParams,
    body: HoldBody,
    response: { 200: Cluster, ...problems(400, 404, 409, 503) },
  };
  app.put("/v1/clusters/:name/hold", { schema: hold }, async (request) => {
    const { for: text, by, reason } = request.body;
    const resource = request.params.name as ResourceName;
    const forMs = durationIn("body.for", text, holdRange);
    const why = auditReason(request, { by, reason });
    await submit(context, request, { type: "cluster-hold", resource, forMs, reason: why });
    return find(context, request);
  });
  const unhold = {
    tags: ["clusters"],
    summary: "Let a held cluster go",
    params: NameParams,
    querystring: WhyQuery,
    response: { 200: Cluster, ...problems(404, 409, 503) },
  };
  app.delete("/v1/clusters/:name/hold", { schema: unhold }, async (request) => {
    const { by, reason } = request.query;
    const resource = request.params.name as ResourceName;
    const why = auditReason(request, { by, reason });
    await submit(context, request, { type: "cluster-unhold", resource, reason: why });
    return find(context, request);
  });
}

function endRoutes(app: App, context: Context): void {
  const destroy = {
    tags: ["clusters"],
    summary: "Destroy a cluster that nobody holds",
    params: NameParams,
    querystring: WhyQuery,
    response: { 204: NoContent, ...problems(404, 409, 503) },
  };
  app.delete("/v1/clusters/:name", { schema: destroy }, async (request, reply) => {
    const { by, reason } = request.query;
    const resource = request.params.name as ResourceName;
    const why = auditReason(request, { by, reason });
    await submit(context, request, { type: "cluster-destroy", resource, reason: why });
    reply.code(204);
  });
  const abandon = {
    tags: ["clusters"],
    summary: "Remove a cluster from the books although it may still exist: a recorded leak",
    params: NameParams,
    body: OperatorBody,
    response: { 204: NoContent, ...problems(400, 404, 409, 503) },
  };
  app.post("/v1/clusters/:name/abandon", { schema: abandon }, async (request, reply) => {
    const { by, reason } = request.body ?? {};
    if (reason === undefined || reason.trim() === "") {
      const hint = "Say what may be left, and who knows of it";
      throw invalid("body.reason", "it is missing", hint);
    }
    const resource = request.params.name as ResourceName;
    const why = auditReason(request, { by, reason });
    await submit(context, request, { type: "cluster-abandon", resource, reason: why });
    reply.code(204);
  });
}

function adoptRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Take over a cluster that exists outside. A provisioner checks it before it is lent",
    params: NewNameParams,
    body: AdoptBody,
    response: { 200: Cluster, ...problems(400, 404, 409, 503) },
  };
  app.put("/v1/clusters/:name", { schema }, async (request) => {
    const { pool, instance, handle, by, reason } = request.body;
    await submit(context, request, {
      type: "cluster-adopt",
      pool: pool as PoolName,
      resource: request.params.name as ResourceName,
      instance,
      ...(handle === undefined ? undefined : { handle: JSON.stringify(handle) }),
      reason: auditReason(request, { by, reason }),
    });
    return find(context, request);
  });
}
