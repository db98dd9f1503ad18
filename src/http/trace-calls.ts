/** A span for every call, as a part of the trace that the caller names in `traceparent`. */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Context as TraceContext,
  trace,
} from "@opentelemetry/api";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./context.ts";

const tracer = trace.getTracer("berth");
/** They come every few seconds, and nobody asks why they were slow. */
const probes = new Set(["/healthz", "/readyz", "/metrics"]);

/** Only with an exporter: without these hooks a call costs what it did before. */
export function traceCalls(app: App): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (probes.has(request.routeOptions.url ?? "")) return done();
    // The framework goes on in the same context when it has read a body.
    context.with(begin(request, reply), done);
  });
}

function begin(request: FastifyRequest, reply: FastifyReply): TraceContext {
  const { method, routeOptions, headers } = request;
  const route = routeOptions.url;
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const attributes = {
    "http.request.method": method,
    "berth.call.id": request.id,
    ...(route === undefined ? undefined : { "http.route": route }),
    ...(request.relayed ? { "berth.relayed": true } : undefined),
  };
  const name = route === undefined ? method : `${method} ${route}`;
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
  reply.raw.once("close", () => {
    const { statusCode, writableFinished } = reply.raw;
    span.setAttribute("http.response.status_code", statusCode);
    if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    if (!writableFinished) span.addEvent("the caller has gone");
    span.end();
  });
  return trace.setSpan(parent, span);
}

/** Runs the passing on of a call as a span of its own. The headers continue the trace elsewhere. */
export function traceRelay<T>(
  address: string,
  pass: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const options = { kind: SpanKind.CLIENT, attributes: { "server.address": address } };
  return tracer.startActiveSpan("relay to the leader", options, async (span) => {
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    try {
      return await pass(headers);
    } finally {
      span.end();
    }
  });
}
