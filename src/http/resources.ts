import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { Page, Resource, ResourcePatch } from "../api/schemas.ts";
import { resourceNotFound } from "../core/decide/not-found.ts";
import { resourcesLike, resourceView } from "../core/explain/resource-view.ts";
import type { ResourceName } from "../core/model/ids.ts";
import type { App, Context } from "./context.ts";
import { originOf } from "./origin.ts";
import { pageFields, pageOf } from "./paging.ts";
import { problemOf } from "./problems.ts";
import { renderResource } from "./render/lease.ts";
import { auditReason, NameParams } from "./request.ts";
import { problems } from "./responses.ts";
import { onlySpace, sightOf } from "./sight.ts";

const filter = Type.Optional(Type.String({ maxLength: limits.nameLengthMax }));
const names = Type.Optional(
  Type.String({
    maxLength: limits.namesLengthMax,
    description: "Only these, separated by commas; unknown names are ignored",
  }),
);
const Query = Type.Object(
  { pool: filter, state: filter, names, ...pageFields },
  { additionalProperties: false },
);

const ResourcePage = Page(Resource);

export function resourceRoutes(app: App, context: Context): void {
  const { broker } = context;
  const listing = {
    tags: ["resources"],
    summary: "All resources, or those of a pool or in a state",
    querystring: Query,
    response: { 200: ResourcePage, ...problems(400) },
  };
  app.get("/v1/resources", { schema: listing }, (request) =>
    broker.read((state) => {
      const { query } = request;
      const only = onlySpace(request, state);
      const sees = sightOf(state, only);
      const { names: wanted, ...filter } = query;
      const found = resourcesLike(state, {
        ...filter,
        ...(wanted === undefined ? undefined : { names: wanted.split(",") }),
      });
      return pageOf(
        found,
        query,
        ({ name }) => name,
        (resource) => renderResource(resourceView(resource), sees, only),
      );
    }),
  );
  const one = {
    tags: ["resources"],
    summary: "One resource",
    params: NameParams,
    response: { 200: Resource, ...problems(404) },
  };
  app.get("/v1/resources/:name", { schema: one }, (request) => find(context, request));
  patchRoute(app, context);
}

function patchRoute(app: App, context: Context): void {
  const schema = {
    tags: ["resources"],
    summary: "Drain, undrain, quarantine, free, label; user data",
    params: NameParams,
    body: ResourcePatch,
    response: { 200: Resource, ...problems(400, 403, 404, 409, 503) },
  };
  app.patch("/v1/resources/:name", { schema }, async (request) => {
    const resource = request.params.name as ResourceName;
    const { by, reason, ...change } = request.body;
    const outcome = await context.broker.submit(
      {
        type: "change-resource",
        resource,
        change,
        reason: auditReason(request, { by, reason }),
      },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    return find(context, request);
  });
}

async function find({ broker }: Context, request: FastifyRequest) {
  const { name } = request.params as { readonly name: string };
  const found = await broker.read((state) => {
    const only = onlySpace(request, state);
    const resource = state.resources.get(name as ResourceName);
    if (resource !== undefined) {
      return renderResource(resourceView(resource), sightOf(state, only), only);
    }
    return problemOf(resourceNotFound(state, name as ResourceName));
  });
  if (found instanceof Problem) throw found;
  return found;
}
