import type { Registry } from "prom-client";
import type { App, Context } from "./context.ts";

export function healthRoutes(app: App, { broker }: Context, metrics: Registry): void {
  const hidden = { schema: { hide: true } };
  app.get("/healthz", hidden, async (_request, reply) => {
    reply.type("text/plain");
    return broker.stoppedBy === null ? "ok\n" : reply.code(503).send("the broker has stopped\n");
  });
  app.get("/readyz", hidden, async (_request, reply) => {
    reply.type("text/plain");
    if (broker.stoppedBy === null && broker.unwritable === null) return "ok\n";
    const standby = broker.mode === "standby";
    const why = standby ? "another server leads\n" : "the journal cannot be written\n";
    return reply.code(503).send(why);
  });
  app.get("/metrics", hidden, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}
