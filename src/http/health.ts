import type { Registry } from "prom-client";
import type { App, Site } from "./site.ts";

export function healthRoutes(app: App, { broker }: Site, metrics: Registry): void {
  const hidden = { schema: { hide: true } };
  app.get("/healthz", hidden, async (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/readyz", hidden, async (_request, reply) => {
    reply.type("text/plain");
    if (broker.unwritable === null) return reply.send("ok\n");
    return reply.code(503).send("the journal cannot be written\n");
  });
  app.get("/metrics", hidden, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}
