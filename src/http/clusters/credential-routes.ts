/** Credentials that a space brings for its own clusters. No call returns a value. */
import Type from "typebox";
import { Credentials, CredentialsBody } from "../../api/cluster-schemas.ts";
import { Page } from "../../api/schemas.ts";
import { clustersOf } from "../../core/explain/cluster-view.ts";
import { credentialsParameter } from "../../core/model/cluster.ts";
import type { Instant } from "../../core/model/time.ts";
import { type CredentialInfo, readRef } from "../../vault/space-credentials.ts";
import { callerOf } from "../authorize.ts";
import type { App, Context } from "../context.ts";
import { pageFields, pageOf } from "../paging.ts";
import { NoContent, problems } from "../responses.ts";
import { timestamp } from "../timestamp.ts";
import { mustWork } from "./credential-checks.ts";
import { credentialsNotFound, opened } from "./vault-problems.ts";

const Query = Type.Object(pageFields, { additionalProperties: false });
const CredentialsPage = Page(Credentials);
const Params = Type.Object({
  name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$", maxLength: 63 }),
});

/** Pull secrets and key files are longer than what other calls send. */
const bodyLimit = 1_024 * 1_024;

export function credentialRoutes(app: App, context: Context): void {
  const { credentials } = context.vault;
  const listing = {
    tags: ["clusters"],
    summary: "The credentials of the caller's space, without their values",
    querystring: Query,
    response: { 200: CredentialsPage, ...problems(400, 503) },
  };
  app.get("/v1/credentials", { schema: listing }, async (request) => {
    const { space = "" } = callerOf(request);
    const stored = await opened(credentials.list(space));
    const clusters = await clustersByName(context, space);
    return pageOf(
      stored,
      request.query,
      ({ name }) => name,
      (one) => render(one, clusters.get(one.name)),
    );
  });
  const put = {
    tags: ["clusters"],
    summary: "Store credentials of the caller's space, or a new version of them",
    params: Params,
    body: CredentialsBody,
    response: { 200: Credentials, ...problems(400, 409, 422, 503) },
  };
  app.put("/v1/credentials/:name", { schema: put, bodyLimit }, async (request) => {
    const { space = "" } = callerOf(request);
    const { name } = request.params;
    const { values } = request.body;
    await mustWork(context, name, values);
    const ref = await opened(credentials.put(space, name, values));
    const clusters = await clustersByName(context, space);
    const info = { ...ref, keys: Object.keys(values).sort(), storedAtMs: Date.now() };
    return render(info, clusters.get(name));
  });
  const remove = {
    tags: ["clusters"],
    summary: "Delete credentials; a copy stays until the clusters that need it are destroyed",
    params: Params,
    response: { 204: NoContent, ...problems(404, 503) },
  };
  app.delete("/v1/credentials/:name", { schema: remove }, async (request, reply) => {
    const { space = "" } = callerOf(request);
    const { name } = request.params;
    if (!(await opened(credentials.delete(space, name)))) throw credentialsNotFound(name);
    reply.code(204);
  });
}

async function clustersByName({ broker }: Context, space: string): Promise<Map<string, string[]>> {
  return broker.read((state) => {
    const found = new Map<string, string[]>();
    for (const { name, cluster } of clustersOf(state)) {
      const ref = readRef(String(cluster.parameters[credentialsParameter] ?? ""));
      if (ref?.space === space) found.set(ref.name, [...(found.get(ref.name) ?? []), name]);
    }
    return found;
  });
}

function render(
  { name, space, version, keys, storedAtMs }: CredentialInfo,
  clusters: string[] = [],
) {
  return {
    name,
    space: space === "" ? null : space,
    version,
    keys: [...keys],
    storedAt: timestamp(storedAtMs as Instant),
    clusters,
  };
}
