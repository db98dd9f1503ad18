/** Documents the problems that the framework itself answers with, before any route. */
import type { FastifySchema } from "fastify";
import type { App } from "./context.ts";
import { problems } from "./responses.ts";

export function documentCommonProblems(app: App): void {
  app.addHook("onRoute", (route) => {
    const schema: FastifySchema | undefined = route.schema;
    if (schema === undefined || schema.hide) return;
    const hasBody = [route.method].flat().some((method) => method !== "GET" && method !== "HEAD");
    schema.response = {
      ...problems(400, 403, 421, 429, 431),
      ...(hasBody ? problems(413, 415) : undefined),
      ...(route.url.includes("/:") ? problems(414) : undefined),
      ...Object(schema.response),
    };
  });
}
