/**
 * Boskos's six calls at the root, where its clients expect them: whatever path their server's address
 * has, they overwrite it. Parameters come from the query alone, errors are plain text, and a path
 * that nobody knows is answered with nothing and 200.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../api/problem.ts";
import { BrokerClosed, BrokerOverloaded, NotLeader } from "../../broker/broker-contract.ts";
import { JournalUnavailable } from "../../journal/journal.ts";
import { isCapacityCall } from "../capacity/is-capacity-call.ts";
import * as capacity from "../capacity/routes.ts";
import { showPoolsRoute } from "../capacity/routes.ts";
import type { App, Context } from "../context.ts";
import {
  answerProblem,
  handleErrors,
  isOwnPath,
  type PassedOn,
  setRetryAfter,
  unavailableProblem,
} from "../errors.ts";
import { acquire, acquireByState } from "./acquire.ts";
import { release, update } from "./held.ts";
import type { BoskosMetrics } from "./metrics.ts";
import { metric, reset } from "./reset.ts";
import { Query, sendText } from "./wire.ts";

/** Boskos has none; its clients send user data of a few hundred bytes. */
const bodyBytesMax = 1024 * 1024;

type Handler = (
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

export function boskosRoutes(
  app: App,
  context: Context,
  metrics: BoskosMetrics,
  relay?: PassedOn,
): void {
  app.removeAllContentTypeParsers();
  // Whatever they call their bodies, be it nonsense: only one call reads any.
  app.addHook("onRequest", async ({ headers }) => void delete headers["content-type"]);
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.addHook("onResponse", async (request, reply) => metrics.answered(request, reply));
  handleErrors(app, relay, (error, request, reply) => {
    if (isOwnPath(request)) return answerProblem(error, request, reply);
    const failure = failureFrom(error);
    const problem = error instanceof Problem ? error : unavailableProblem(error);
    if (problem !== undefined) setRetryAfter(reply, problem);
    if (failure.status === 401) reply.header("www-authenticate", basicChallenge);
    if (failure.status === 500)
      request.log.error({ err: error, callId: request.id }, "a bug: the request failed");
    return sendText(reply, failure);
  });
  const calls: Record<string, Handler> = {
    "/acquire": (query, request, reply) =>
      isCapacityCall(request)
        ? capacity.acquire(context, request, reply)
        : acquire(context, query, request, reply, metrics),
    "/acquirebystate": (query, request, reply) => acquireByState(context, query, request, reply),
    "/release": (query, request, reply) =>
      isCapacityCall(request)
        ? capacity.release(context, request, reply)
        : release(context, query, request, reply),
    "/update": (query, request, reply) => update(context, query, request, reply),
    "/reset": (query, request, reply) => reset(context, query, request, reply),
    "/metric": (query, request, reply) => metric(context, query, request, reply),
  };
  showPoolsRoute(app, context);
  for (const [url, handler] of Object.entries(calls)) {
    app.route({
      method: [...app.supportedMethods],
      url,
      exposeHeadRoute: false,
      bodyLimit: bodyBytesMax,
      schema: { hide: true },
      handler: (request, reply) => {
        const refusal = wrongMethod(url, request.method);
        if (refusal !== undefined && !isCapacityCall(request))
          return sendText(reply, { status: 405, text: refusal });
        return handler(new Query(request.raw.url ?? ""), request, reply);
      },
    });
  }
}

/** One of them calls itself by another's name; its clients have never known it otherwise. */
function wrongMethod(url: string, method: string): string | undefined {
  if (url === "/metric") return method === "GET" ? undefined : "/metric only accepts GET";
  const name = url === "/acquirebystate" ? "/acquire" : url;
  return method === "POST" ? undefined : `Method ${method}, ${name} only accepts POST.`;
}

/** Boskos's clients send a user name and a password, and nothing else. */
const basicChallenge = 'Basic realm="berth", charset="UTF-8"';

/** Every text has the word by which some clients know an error. */
function failureFrom(error: Error & { readonly statusCode?: number }) {
  const temporary =
    error instanceof JournalUnavailable ||
    error instanceof BrokerOverloaded ||
    error instanceof BrokerClosed ||
    error instanceof NotLeader;
  if (temporary) return { status: 503, text: `failed: ${error.message}` };
  if (error instanceof Problem) {
    return { status: error.status, text: `failed: ${error.message}` };
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return { status, text: `failed: ${error.message}` };
  return { status: 500, text: "failed: the server has a bug; its log has the cause" };
}
