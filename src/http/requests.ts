import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { Problem } from "../api/problem.ts";
import {
  BumpBody,
  Duration,
  Explanation,
  Lease,
  Page,
  ResumeBody,
  WaitingRequest,
} from "../api/schemas.ts";
import { nameInSpace } from "../auth/space-names.ts";
import { submitAndWait, watchRequest } from "../broker/submit-and-wait.ts";
import { requestNotFound } from "../core/decide/not-found.ts";
import { explainNeeds } from "../core/explain/explain.ts";
import { spacesAhead, spaceView } from "../core/explain/space-view.ts";
import { requestView } from "../core/explain/view.ts";
import { isListedIn } from "../core/gates/limits.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { Request, State } from "../core/model/state.ts";
import { callerOf } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { originOf } from "./origin.ts";
import { ListQuery, pageOf } from "./paging.ts";
import { problemOf } from "./problems.ts";
import { answerOutcome, publicAudience, renderNeeds, renderRequest } from "./render/lease.ts";
import {
  auditFields,
  auditReason,
  Connection,
  callingSpace,
  checkCanWait,
  IdParams,
  isHolder,
  waitIn,
} from "./request.ts";
import { NoContent, problems } from "./responses.ts";
import { onlySpace, readerFor, sightOf } from "./sight.ts";
import { renderSpace } from "./spaces.ts";

const RequestPage = Page(WaitingRequest);

export function requestRoutes(app: App, context: Context): void {
  listRoute(app, context);
  pollRoute(app, context);
  resumeRoute(app, context);
  leaveRoute(app, context);
  priorityRoute(app, context);
  explainRoute(app, context);
}

function listRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["requests"],
    summary: "List waiting requests",
    querystring: ListQuery,
    response: { 200: RequestPage, ...problems(400) },
  };
  app.get("/v1/requests", { schema }, (call) =>
    broker.read((state, now) => {
      const { query } = call;
      const { pool, holder } = query;
      const space = onlySpace(call, state);
      const wanted = state.requests.values().filter((request) => {
        if (space !== undefined && request.ask.space !== space) return false;
        if (holder !== undefined && request.ask.holder !== holder) return false;
        return pool === undefined || request.needs.some((need) => isListedIn(need.pool, pool));
      });
      return pageOf(
        wanted,
        query,
        ({ id }) => id,
        (request) =>
          renderRequest(
            requestView(request, now, readerFor(space)),
            now,
            publicAudience,
            insight.estimates,
          ),
      );
    }),
  );
}

const PollQuery = Type.Object({ wait: Type.Optional(Duration) }, { additionalProperties: false });

function pollRoute(app: App, context: Context): void {
  const { broker, tokens } = context;
  const schema = {
    tags: ["requests"],
    summary: "Poll a request: 200 with its lease once granted, 202 while it waits",
    description:
      "Only polls with the token keep a request alive; it is dropped after its ttl without one",
    params: IdParams,
    querystring: PollQuery,
    response: { 200: Lease, 202: WaitingRequest, ...problems(400, 404, 410, 503) },
  };
  app.get("/v1/requests/:id", { schema }, async (request, reply) => {
    const waitMs = waitIn("query.wait", request.query.wait);
    const { id, reader, space } = await broker.read((state) => {
      const seen = visibleId(state, request);
      return {
        id: seen,
        reader: readerFor(onlySpace(request, state, seen)),
        space: seen && callingSpace(request, state, seen),
      };
    });
    if (id === undefined) throw unseen(request.params.id);
    checkCanWait(context, waitMs, space);
    const secrets = isHolder(tokens, id, request);
    using connection = new Connection(request);
    const outcome = secrets
      ? await submitAndWait(
          broker,
          { type: "keep-waiting", id, waitMs },
          { connection, from: originOf(request) },
        )
      : await watchRequest(broker, id, waitMs, { connection, reader, space });
    return answerOutcome(context, reply, outcome, { secrets }, 200);
  });
}

/** Never makes a request: a step that ends or looks must not ask for anything new. */
function resumeRoute(app: App, context: Context): void {
  const { broker, tokens } = context;
  const schema = {
    tags: ["requests"],
    summary: "Find your request again by its request id: with its token, as a sign of life",
    description:
      "For a job of several steps, whose next step knows the request id and nothing else. It counts as " +
      "a heartbeat or a poll. 404 if your space has made no such request, 410 if it has ended",
    body: ResumeBody,
    response: { 200: Lease, 202: WaitingRequest, ...problems(400, 404, 410, 503) },
  };
  app.post("/v1/requests/resume", { schema }, async (request, reply) => {
    const { requestId } = request.body;
    const key = nameInSpace(callerOf(request).space, requestId);
    const id = await broker.read(({ keys }) => keys.get(key));
    if (id === undefined) throw unseen(requestId);
    const outcome = await broker.submit({ type: "keep-waiting", id, waitMs: 0 });
    return answerOutcome(context, reply, outcome, { secrets: true, token: tokens.of(id) }, 200);
  });
}

/**
 * People may name a request by the id that its client chose. A request of another space is treated
 * like one that does not exist.
 */
function visibleId(state: State, request: FastifyRequest): RequestId | undefined {
  const { id: name } = request.params as { readonly id: RequestId };
  const isId = state.requests.has(name) || state.leases.has(name) || state.ended.has(name);
  const space = onlySpace(request, state, name);
  const id = isId ? name : state.keys.get(nameInSpace(space, name));
  return id === undefined || sightOf(state, space)(id) ? (id ?? name) : undefined;
}

function unseen(id: string): Problem {
  return problemOf({ code: "request_not_found", id: id as RequestId });
}

const LeaveQuery = Type.Object(
  {
    force: Type.Optional(
      Type.Literal("true", { description: "An operator removes the request of another" }),
    ),
    ...auditFields,
  },
  { additionalProperties: false },
);

function leaveRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["requests"],
    summary: "Remove a request from the queue; repeating it is safe",
    params: IdParams,
    querystring: LeaveQuery,
    response: { 204: NoContent, ...problems(401, 403, 404, 409, 410, 503) },
  };
  app.delete("/v1/requests/:id", { schema }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const { force, by, reason } = request.query;
    const because =
      force === undefined ? undefined : { reason: auditReason(request, { by, reason }) };
    const outcome = await broker.submit(
      { type: "leave", id, why: "cancelled", ...because },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    if (outcome.type === "granted") {
      throw new Problem({
        code: "request_granted",
        status: 409,
        message: `Cannot leave the queue: ${id} has been granted`,
        hint: `Give it back with DELETE /v1/leases/${id}`,
      });
    }
    reply.code(204);
  });
}

function priorityRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["requests"],
    summary: "Change the priority of a waiting request",
    description: "The bound of its space on priorities does not count here",
    params: IdParams,
    body: BumpBody,
    response: { 200: WaitingRequest, ...problems(400, 401, 403, 404, 409, 410, 422, 503) },
  };
  app.put("/v1/requests/:id/priority", { schema }, async (request) => {
    const { priority, by, reason: why } = request.body;
    const reason = auditReason(request, { by, reason: why });
    const id = request.params.id as RequestId;
    const outcome = await broker.submit({ type: "bump", id, priority, reason }, originOf(request));
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    if (outcome.type !== "waiting") throw new Error(`Cannot bump ${id}: it is ${outcome.type}`);
    return renderRequest(outcome.request, broker.now(), publicAudience, insight.estimates);
  });
}

function explainRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["requests"],
    summary: "Why it waits: what it needs, what is free, who is ahead, who holds the rest",
    params: IdParams,
    response: { 200: Explanation, ...problems(404, 409, 410) },
  };
  app.get("/v1/explain/:id", { schema }, async (request) => {
    const found = await broker.read((state, now) => {
      const id = visibleId(state, request);
      if (id === undefined) return unseen(request.params.id);
      const waiting = state.requests.get(id);
      if (waiting !== undefined) {
        const only = onlySpace(request, state, id);
        const reader = readerFor(only);
        const needs = renderNeeds(explainNeeds(waiting, now, reader), sightOf(state, only));
        const view = requestView(waiting, now, reader);
        return {
          request: renderRequest(view, now, publicAudience, insight.estimates),
          ...spaceOfRequest(state, waiting),
          needs,
        };
      }
      if (state.leases.has(id)) return granted(id);
      return problemOf(requestNotFound(state, id));
    });
    if (found instanceof Problem) throw found;
    return found;
  });
}

function spaceOfRequest(state: State, request: Request): Pick<Explanation, "space"> | undefined {
  const name = request.space?.name;
  if (name === undefined) return undefined;
  return { space: { ...renderSpace(spaceView(state, name)), ...spacesAhead(state, request) } };
}

function granted(id: RequestId): Problem {
  return new Problem({
    code: "request_granted",
    status: 409,
    message: `Cannot explain why ${id} waits: it has been granted`,
    hint: `See the lease with GET /v1/leases/${id}`,
  });
}
