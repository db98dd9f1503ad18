/** `/lease/acquire` and `/lease/release`, for those who have no `berth run --proxy` beside them. */

import type { FastifyReply, FastifyRequest } from "fastify";
import {
  answerAcquire,
  answerRelease,
  formatNote,
  isStrict,
  type LeaseAnswer,
  type LeaseCall,
  type LeaseOperations,
  pageNotFound,
} from "../../api/lease-proxy.ts";
import { Problem } from "../../api/problem.ts";
import { inSpaceOf } from "../authorize.ts";
import type { App, Context } from "../context.ts";
import { handleErrors, markUndecided, type PassedOn, unavailableProblem } from "../errors.ts";
import { originOf } from "../origin.ts";
import { acquire } from "./acquire.ts";
import { holderOf } from "./holder.ts";
import { release } from "./release.ts";

type Answering = (call: LeaseCall, operations: LeaseOperations) => Promise<LeaseAnswer>;

/** Must be registered in a scope of its own: bodies are taken as they come, whatever their type. */
export async function leaseProxyRoutes(
  app: App,
  context: Context,
  relay?: PassedOn,
): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  handleErrors(app, relay, (error, request, reply) => {
    const problem = error instanceof Problem ? error : unavailableProblem(error);
    if (problem !== undefined) {
      return send(reply, { status: problem.status, body: `${problem.message}\n` });
    }
    const status = error.statusCode ?? 500;
    if (status >= 500)
      request.log.error({ err: error, callId: request.id }, "a bug: the request failed");
    const body = status >= 500 ? "the server has a bug; its log has the cause" : error.message;
    return send(reply, { status, body: `${body}\n` });
  });
  const serve = (url: string, answer: Answering) =>
    app.route({
      method: [...app.supportedMethods],
      url,
      exposeHeadRoute: false,
      schema: { hide: true },
      handler: async (request, reply) =>
        send(reply, await answer(callOf(request), operationsOf(context, request, reply))),
    });
  serve("/lease/acquire", answerAcquire);
  serve("/lease/release", answerRelease);
  serve("/lease/*", async () => pageNotFound);
}

function callOf({ method, url, body, headers }: FastifyRequest): LeaseCall {
  const prefer = headers["prefer"];
  return {
    method,
    url,
    body: typeof body === "string" ? body : "",
    strict: isStrict(Array.isArray(prefer) ? prefer.join() : prefer),
  };
}

function operationsOf(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): LeaseOperations {
  const holder = holderOf(request);
  return {
    acquire: (wanted) =>
      orProblem(acquire(context, wanted, { holder, request, reply }), (error) =>
        markUndecided(reply, error),
      ),
    release: (name) =>
      orProblem(release(context, { holder, ...inSpaceOf(request), from: originOf(request) }, name)),
  };
}

/** A temporary failure becomes a Problem as well. */
async function orProblem<T>(work: Promise<T>, failed?: (error: unknown) => void): Promise<T> {
  try {
    return await work;
  } catch (error) {
    failed?.(error);
    const passing = error instanceof Error ? unavailableProblem(error) : undefined;
    throw passing instanceof Problem ? passing : error;
  }
}

function send(reply: FastifyReply, { status, body, json, note }: LeaseAnswer): FastifyReply {
  if (note !== undefined) reply.header("berth-note", formatNote(note));
  if (status === 405) reply.header("allow", "POST");
  if (status === 503) reply.header("retry-after", "1");
  if (status === 204) return reply.code(status).send();
  if (!json) reply.header("x-content-type-options", "nosniff");
  return reply
    .code(status)
    .header("content-type", json ? "application/json" : "text/plain; charset=utf-8")
    .send(Buffer.from(body)); // To text the framework would add a charset, which is not in the original.
}
