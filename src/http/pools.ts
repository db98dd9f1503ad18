import Type from "typebox";
import { Problem } from "../api/problem.ts";
import { ConfigStatus, Page, Pool } from "../api/schemas.ts";
import { mayDo } from "../auth/roles.ts";
import { poolNotFound } from "../core/decide/not-found.ts";
import { poolView } from "../core/explain/pool-view.ts";
import type { PoolName } from "../core/model/ids.ts";
import { callerOf } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { pageFields, pageOf } from "./paging.ts";
import { problemOf } from "./problems.ts";
import { renderPool } from "./render/pool.ts";
import { NameParams } from "./request.ts";
import { problems } from "./responses.ts";
import { limitedTo, readerFor } from "./sight.ts";

const PageQuery = Type.Object(pageFields, { additionalProperties: false });

const PoolPage = Page(Pool);

export function poolRoutes(app: App, context: Context): void {
  const { broker, configStatus } = context;
  const listing = {
    tags: ["pools"],
    summary: "All pools: sizes, states, who waits, policy",
    querystring: PageQuery,
    response: { 200: PoolPage, ...problems(400) },
  };
  app.get("/v1/pools", { schema: listing }, (request) =>
    broker.read((state, now) => {
      const reader = readerFor(limitedTo(callerOf(request)));
      return pageOf(
        state.pools.values(),
        request.query,
        ({ name }) => name,
        (pool) => renderPool(poolView(pool, now), now, context, reader),
      );
    }),
  );
  const one = {
    tags: ["pools"],
    summary: "One pool",
    params: NameParams,
    response: { 200: Pool, ...problems(404) },
  };
  app.get("/v1/pools/:name", { schema: one }, async (request) => {
    const name = request.params.name as PoolName;
    const reader = readerFor(limitedTo(callerOf(request)));
    const found = await broker.read((state, now) => {
      const pool = state.pools.get(name);
      if (pool !== undefined) return renderPool(poolView(pool, now), now, context, reader);
      return problemOf(poolNotFound(state, name));
    });
    if (found instanceof Problem) throw found;
    return found;
  });
  const config = {
    tags: ["pools"],
    summary: "Which configuration is in force, and what is wrong with the file as it is now",
    response: { 200: ConfigStatus },
  };
  app.get("/v1/config", { schema: config }, async (request) => {
    const status = configStatus();
    if (mayDo(callerOf(request).role, "observe")) return status;
    // Its problems quote the file, which names the spaces of others.
    return { ...status, file: null, problems: [], warnings: [] };
  });
}
