/** Clusters that exist outside and are not in the books, and what a search for them needs. */
import Type from "typebox";
import {
  type FoundBody,
  FoundClusters,
  Orphan,
  TemplateCredentials,
} from "../../api/cluster-schemas.ts";
import { Page } from "../../api/schemas.ts";
import type { OrphanCluster } from "../../core/model/orphan.ts";
import type { Instant } from "../../core/model/time.ts";
import { readRef } from "../../vault/space-credentials.ts";
import type { App, Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { pageFields, pageOf } from "../paging.ts";
import { problemOf } from "../problems.ts";
import { seconds } from "../render/lease.ts";
import { NameParams } from "../request.ts";
import { problems } from "../responses.ts";
import { timestamp } from "../timestamp.ts";
import { templateNotFound } from "./template-routes.ts";
import { opened } from "./vault-problems.ts";

const Query = Type.Object(pageFields, { additionalProperties: false });
const OrphanPage = Page(Orphan);
const Orphans = Type.Object({ items: Type.Array(Orphan) });

/** A search may find thousands of clusters. */
const bodyLimit = 16 * 1_024 * 1_024;

export function orphanRoutes(app: App, context: Context): void {
  listRoute(app, context);
  foundRoute(app, context);
  searchCredentialsRoute(app, context);
}

function listRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Clusters that exist outside and that nobody knows of, as the last searches found",
    querystring: Query,
    response: { 200: OrphanPage, ...problems(400) },
  };
  app.get("/v1/orphans", { schema }, (request) =>
    broker.read((state, now) =>
      pageOf(
        state.orphanClusters.values(),
        request.query,
        ({ instance }) => instance,
        (one) => render(one, now),
      ),
    ),
  );
}

function foundRoute(app: App, { broker, templates }: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "Report all clusters that a driver has found; answers which of them are orphans",
    body: FoundClusters,
    response: { 200: Orphans, ...problems(400, 404, 413, 503) },
  };
  app.post("/v1/orphans", { schema, bodyLimit }, async (request) => {
    const { template, credentials, hub, found } = request.body as FoundBody;
    // Nobody would search there again, so that it would stay for ever.
    const isKnown = templates().some(({ name }) => name === template);
    if (!isKnown) throw templateNotFound(template, templates());
    const where = hub === undefined ? undefined : { hub };
    const command = { type: "clusters-found", template, credentials, ...where, found } as const;
    const outcome = await broker.submit(command, originOf(request));
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    if (outcome.type !== "orphans") throw new Error(`Cannot search: it is ${outcome.type}`);
    return { items: outcome.orphans.map((one) => render(one, broker.now())) };
  });
}

/** A search with the template's own credentials would not see what a space's account has. */
function searchCredentialsRoute(app: App, { templates, vault }: Context): void {
  const schema = {
    tags: ["clusters"],
    summary: "For workers: the credentials of all spaces that clusters of a template are made with",
    params: NameParams,
    response: { 200: TemplateCredentials, ...problems(404, 503) },
  };
  app.get("/v1/templates/:name/credentials", { schema }, async (request, reply) => {
    const { name } = request.params;
    const template = templates().find((known) => known.name === name);
    if (template === undefined) throw templateNotFound(name, templates());
    reply.header("cache-control", "no-store");
    if (template.ownCredentials === null) return { items: [] };
    const stored = await opened(vault.credentials.named(template.ownCredentials));
    return { items: stored.map(({ reference, values }) => ({ reference, values: { ...values } })) };
  });
}

function render({ seenAt, credentials, ...orphan }: OrphanCluster, now: Instant): Orphan {
  const { name, instance, template, createdAt } = orphan;
  return {
    ...{ name, instance, template, createdAt },
    space: (credentials === null ? undefined : readRef(credentials)?.space) || null,
    seenAt: timestamp(seenAt),
    seenSeconds: seconds(now - seenAt),
  };
}
