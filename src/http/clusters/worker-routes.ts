/** The calls of a provisioner that is another process. Texts from drivers are masked on arrival. */
import type { FastifyRequest } from "fastify";
import {
  AccessBody,
  LentAccessBody,
  LogBody,
  LostBody,
  OwnCredentials,
  ReportBody,
  Reported,
} from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import { resourceNotFound } from "../../core/decide/not-found.ts";
import { isMade } from "../../core/explain/cluster-view.ts";
import { type ClusterReport, credentialsParameter } from "../../core/model/cluster.ts";
import type { RequestId, ResourceName } from "../../core/model/ids.ts";
import { after } from "../../core/model/time.ts";
import { maskOf } from "../../vault/secret-patterns.ts";
import { readRef } from "../../vault/space-credentials.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { problemOf } from "../problems.ts";
import { NameParams } from "../request.ts";
import { NoContent, problems } from "../responses.ts";
import { timestamp } from "../timestamp.ts";
import { ClaimParams, workedOn } from "./held-cluster.ts";
import { credentialsNotFound, opened } from "./vault-problems.ts";

/** Kubeconfigs and logs are longer than what other calls send. */
const bodyLimit = 1_024 * 1_024;

export function workerRoutes(app: App, context: Context): void {
  reportRoute(app, context);
  accessRoute(app, context);
  lentAccessRoute(app, context);
  logsRoute(app, context);
  credentialsRoute(app, context);
  lostRoute(app, context);
}

function reportRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Report on a cluster that is being made or destroyed; counts as a heartbeat",
    params: ClaimParams,
    body: ReportBody,
    response: { 200: Reported, ...problems(400, 401, 403, 404, 409, 410, 422, 503) },
  };
  app.post("/v1/leases/:id/claims/:claim/report", { schema }, async (request) => {
    const { resource } = await workedOn(context, request.params);
    const outcome = await context.broker.submit(
      {
        type: "cluster-report",
        id: request.params.id as RequestId,
        resource: resource as ResourceName,
        report: reportOf(context, request.body),
      },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    if (outcome.type !== "reported") throw new Error(`Cannot report: it is ${outcome.type}`);
    return { wanted: outcome.wanted };
  });
}

function reportOf(
  context: Context,
  { handle, message, stuck, apiUrl, version, ...rest }: ReportBody,
): ClusterReport {
  return {
    ...rest,
    ...(apiUrl === undefined ? undefined : { apiUrl: masked(context, apiUrl) }),
    ...(version === undefined ? undefined : { version: masked(context, version) }),
    ...(handle === undefined ? undefined : { handle: JSON.stringify(handle) }),
    ...(message === undefined ? undefined : { message: masked(context, message) }),
    ...(stuck === undefined ? undefined : { stuck: stuck.map((text) => masked(context, text)) }),
  };
}

function masked({ vault }: Context, text: string): string {
  return maskOf(vault.redactor).clean(text);
}

function accessRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Store the access to a cluster, with the token of the worker's own lease",
    params: ClaimParams,
    body: AccessBody,
    response: { 204: NoContent, ...problems(400, 401, 403, 404, 409, 410, 503) },
  };
  app.put("/v1/leases/:id/claims/:claim/access", { schema, bodyLimit }, async (request, reply) => {
    const { cluster } = await workedOn(context, request.params);
    await opened(context.vault.access.put(cluster.instance, request.body));
    reply.code(204);
  });
}

/** A driver that makes expiring access does so when the cluster is lent. */
function lentAccessRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Store the access to a cluster that is lent, for the claim with this fence",
    params: NameParams,
    body: LentAccessBody,
    response: { 204: NoContent, ...problems(400, 404, 409, 503) },
  };
  app.put("/v1/clusters/:name/access", { schema, bodyLimit }, async (request, reply) => {
    const { instance, fence, lastsSeconds, ...bundle } = request.body;
    const name = request.params.name as ResourceName;
    const refused = await context.broker.read((state) => {
      const resource = state.resources.get(name);
      if (resource === undefined) return problemOf(resourceNotFound(state, name));
      if (!isMade(resource)) return problemOf({ code: "not_a_cluster", resource: name });
      const { claim, cluster } = resource;
      const fits =
        cluster.instance === instance && claim?.purpose === "use" && claim.fence === fence;
      return fits ? undefined : lentToAnother(name);
    });
    if (refused !== undefined) throw refused;
    const now = context.broker.now();
    const ends = lastsSeconds && { expiresAt: timestamp(after(now, lastsSeconds * 1_000)) };
    await opened(context.vault.access.put(instance, { ...bundle, ...ends }));
    reply.code(204);
  });
}

function lentToAnother(name: string): Problem {
  return new Problem({
    code: "cluster_replaced",
    status: 409,
    message: `Cannot store the access to ${name}: no claim with this fence holds this instance now`,
    hint: "Drop it: the cluster was released or replaced meanwhile",
  });
}

function logsRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Store the logs of a cluster, with the token of the worker's own lease",
    params: ClaimParams,
    body: LogBody,
    response: { 204: NoContent, ...problems(400, 401, 403, 404, 409, 410, 413, 503) },
  };
  app.put("/v1/leases/:id/claims/:claim/logs", { schema, bodyLimit }, async (request, reply) => {
    const { cluster, resource, pool } = await workedOn(context, request.params);
    const { instance, space } = cluster;
    const atMs = context.broker.now();
    context.clusterLogs.put({ name: resource, pool, instance, space, atMs, ...request.body });
    reply.code(204);
  });
}

function credentialsRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "The space's own credentials that a cluster is made and destroyed with",
    params: ClaimParams,
    response: { 200: OwnCredentials, ...problems(401, 403, 404, 409, 410, 503) },
  };
  app.get("/v1/leases/:id/claims/:claim/credentials", { schema }, async (request, reply) => {
    const { cluster } = await workedOn(context, request.params);
    const name = String(cluster.parameters[credentialsParameter] ?? "");
    const ref = readRef(name);
    const values = ref && (await opened(context.vault.credentials.open(ref)));
    if (values === undefined) throw credentialsNotFound(name);
    reply.header("cache-control", "no-store");
    return { values: { ...values } };
  });
}

function lostRoute(app: App, context: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Report that a cluster is gone or has failed outside",
    params: NameParams,
    body: LostBody,
    response: { 204: NoContent, ...problems(400, 404, 409, 503) },
  };
  app.post("/v1/clusters/:name/lost", { schema }, async (request: FastifyRequest, reply) => {
    const { name } = request.params as { readonly name: string };
    const { instance, why } = request.body as LostBody;
    const command = { resource: name as ResourceName, instance, why: masked(context, why) };
    const outcome = await context.broker.submit(
      { type: "cluster-lost", ...command },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    reply.code(204);
  });
}
