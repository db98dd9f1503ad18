/** Hubs: their state and what is on them; for operators to cordon, and for workers to report. */
import Type from "typebox";
import {
  Hub,
  type HubCluster,
  HubClusterList,
  HubClustersBody,
  HubStateBody,
  ProbeBody,
} from "../../api/hub-schemas.ts";
import { hubNotFound } from "../../core/decide/hubs.ts";
import { clustersOf, clusterView, instancesOf } from "../../core/explain/cluster-view.ts";
import { type HubView, hubView } from "../../core/explain/hub-view.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { problemOf } from "../problems.ts";
import { seconds } from "../render/lease.ts";
import { auditReason, NameParams } from "../request.ts";
import { NoContent, problems } from "../responses.ts";
import { timestamp } from "../timestamp.ts";
import type { FoundOnHub } from "./hub-clusters.ts";

const Hubs = Type.Object({ items: Type.Array(Hub) });

export function hubRoutes(app: App, context: Context): void {
  readRoutes(app, context);
  stateRoute(app, context);
  clustersRoute(app, context);
  workerRoutes(app, context);
}

function readRoutes(app: App, { broker }: Context): void {
  const all = {
    tags: ["hubs"],
    summary: "All hubs, with their state, stock and limits",
    response: { 200: Hubs },
  };
  app.get("/v1/hubs", { schema: all }, () =>
    broker.read(({ hubs }, now) => {
      return { items: Array.from(hubs.values(), (hub) => render(hubView(hub, now))) };
    }),
  );
  const one = {
    tags: ["hubs"],
    summary: "One hub",
    params: NameParams,
    response: { 200: Hub, ...problems(404) },
  };
  app.get("/v1/hubs/:name", { schema: one }, ({ params }) =>
    broker.read((state, now) => render(find(state, params.name, now))),
  );
}

function find(state: State, name: string, now: Instant): HubView {
  const hub = state.hubs.get(name);
  if (hub === undefined) throw problemOf(hubNotFound(state, name));
  return hubView(hub, now);
}

function stateRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["hubs"],
    summary: "Cordon or drain a hub, or use it again",
    params: NameParams,
    body: HubStateBody,
    response: { 200: Hub, ...problems(400, 404, 409, 503) },
  };
  app.put("/v1/hubs/:name/state", { schema }, async (request) => {
    const { state, by, reason } = request.body;
    const { name: hub } = request.params;
    const why = auditReason(request, { by, reason });
    const command = { type: "hub-set", hub, state, reason: why } as const;
    const outcome = await broker.submit(command, originOf(request));
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    return broker.read((books, now) => render(find(books, hub, now)));
  });
}

function clustersRoute(app: App, { broker, hubClusters }: Context): void {
  const schema = {
    tags: ["hubs"],
    summary:
      "All clusters on a hub, also those that Berth has not made, and whether a lease is behind",
    params: NameParams,
    response: { 200: HubClusterList, ...problems(404) },
  };
  app.get("/v1/hubs/:name/clusters", { schema }, ({ params }) =>
    broker.read((state, now) => {
      find(state, params.name, now);
      const found = hubClusters.of(params.name, instancesOf(state));
      const items = withLeases(state, found?.clusters ?? [], now);
      return { items, foundAt: found === undefined ? null : timestamp(found.at) };
    }),
  );
}

function withLeases(state: State, found: readonly FoundOnHub[], now: Instant): HubCluster[] {
  const known = new Map(
    Array.from(clustersOf(state), (made) => [made.cluster.instance, clusterView(made)] as const),
  );
  return found.map((each) => {
    const made = each.instance === null ? undefined : known.get(each.instance);
    const bornAt = Date.parse(each.createdAt);
    const lease = made?.lease ?? null;
    return {
      ...each,
      ageSeconds: Number.isNaN(bornAt) ? null : seconds(Math.max(0, now - bornAt)),
      cluster: made?.name ?? null,
      lease: lease && { id: lease.id, holder: lease.holder },
    };
  });
}

function workerRoutes(app: App, { broker, hubClusters }: Context): void {
  const probe = {
    tags: ["hubs"],
    summary: "For workers: what a probe of a hub has found",
    params: NameParams,
    body: ProbeBody,
    response: { 204: NoContent, ...problems(400, 404, 503) },
  };
  app.put("/v1/hubs/:name/probe", { schema: probe }, async (request, reply) => {
    const { name: hub } = request.params;
    const command = { type: "hub-probed", hub, ...request.body } as const;
    const outcome = await broker.submit(command, originOf(request));
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    reply.code(204);
  });
  const clusters = {
    tags: ["hubs"],
    summary: "For workers: all clusters on a hub that it is to show",
    params: NameParams,
    body: HubClustersBody,
    response: { 204: NoContent, ...problems(400, 404) },
  };
  app.put("/v1/hubs/:name/clusters", { schema: clusters, bodyLimit }, async (request, reply) => {
    const { name } = request.params;
    await broker.read((state, now) => {
      find(state, name, now);
      hubClusters.put(name, request.body.items, instancesOf(state));
    });
    reply.code(204);
  });
}

const bodyLimit = 8 * 1_024 * 1_024;

function render(view: HubView): Hub {
  const { name, labels, limit, state, setState, counts, isProbed, isRetired, findings } = view;
  const { set, outage, failures } = view;
  return {
    ...{ name, state, setState, labels: { ...labels }, limit, isProbed, isRetired },
    set: set && { by: set.reason.by, why: set.reason.why, at: timestamp(set.at) },
    clusters: { ...counts, states: { ...counts.states } },
    left: view.left,
    failures: { recent: failures.recent, of: failures.of },
    outage: outage && { since: timestamp(outage.since), error: outage.error },
    kinds: [...(findings.kinds ?? [])],
    missingKinds: [...view.missingKinds],
    versions: [...(findings.versions ?? [])],
    ready: { ...findings.ready },
    pools: [...view.pools],
  };
}
