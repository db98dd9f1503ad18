import type { Registry } from "prom-client";
import type { App, Context } from "./context.ts";

export function healthRoutes(app: App, context: Context, metrics: Registry): void {
  const { broker, isReady = () => broker.unwritable === null } = context;
  const hidden = { schema: { hide: true } };
  app.get("/healthz", hidden, async (_request, reply) => {
    reply.type("text/plain");
    return broker.stoppedBy === null ? "ok\n" : reply.code(503).send("the broker has stopped\n");
  });
  app.get("/readyz", hidden, async (_request, reply) => {
    reply.type("text/plain");
    const standby = broker.mode === "standby";
    if (broker.stoppedBy === null && isReady()) return standby ? "ok, it follows\n" : "ok\n";
    const why = standby
      ? "no server leads that it could reach\n"
      : "the journal cannot be written\n";
    return reply.code(503).send(why);
  });
  app.get("/metrics", hidden, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}
