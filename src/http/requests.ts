import Type from "typebox";
import { Problem } from "../api/problem.ts";
import { Duration, Explanation, Lease, Page, WaitingRequest } from "../api/schemas.ts";
import { submitAndWait, watchRequest } from "../broker/submit-and-wait.ts";
import { requestNotFound } from "../core/decide/not-found.ts";
import { explainNeeds } from "../core/explain/explain.ts";
import { requestView } from "../core/explain/view.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";
import type { App, Context } from "./context.ts";
import { ListQuery, pageOf } from "./paging.ts";
import { problemOf } from "./problems.ts";
import { answerOutcome, publicAudience, renderNeeds, renderRequest } from "./render/lease.ts";
import {
  auditFields,
  auditReason,
  Connection,
  checkCanWait,
  IdParams,
  isHolder,
  mustBeHolder,
  mustBeOperator,
  waitIn,
} from "./request.ts";
import { NoContent, problems } from "./responses.ts";

const RequestPage = Page(WaitingRequest);

export function requestRoutes(app: App, context: Context): void {
  listRoute(app, context);
  pollRoute(app, context);
  leaveRoute(app, context);
  explainRoute(app, context);
}

function listRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["requests"],
    summary: "List waiting requests",
    querystring: ListQuery,
    response: { 200: RequestPage, ...problems(400) },
  };
  app.get("/v1/requests", { schema }, ({ query }) =>
    broker.read((state, now) => {
      const { pool, holder } = query;
      const wanted = state.requests.values().filter((request) => {
        if (holder !== undefined && request.ask.holder !== holder) return false;
        return pool === undefined || request.needs.some((need) => need.pool.name === pool);
      });
      return pageOf(
        wanted,
        query,
        ({ id }) => id,
        (request) =>
          renderRequest(requestView(request, now), now, publicAudience, insight.estimates),
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
    checkCanWait(context, waitMs);
    const id = await broker.read((state) => requestIdOf(state, request.params.id));
    const secrets = isHolder(tokens, id, request);
    using connection = new Connection(request);
    const outcome = secrets
      ? await submitAndWait(broker, { type: "keep-waiting", id, waitMs }, { connection })
      : await watchRequest(broker, id, waitMs, connection);
    return answerOutcome(context, reply, outcome, { secrets }, 200);
  });
}

/** People may name a request by the id that its client chose. */
function requestIdOf(state: State, name: string): RequestId {
  const id = name as RequestId;
  const known = state.requests.has(id) || state.leases.has(id) || state.ended.has(id);
  return known ? id : (state.keys.get(name) ?? id);
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

function leaveRoute(app: App, { broker, tokens }: Context): void {
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
    if (force === undefined) mustBeHolder(tokens, id, request);
    else mustBeOperator(request);
    const because = force === undefined ? undefined : { reason: auditReason({ by, reason }) };
    const outcome = await broker.submit({ type: "leave", id, why: "cancelled", ...because });
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

function explainRoute(app: App, { broker, insight }: Context): void {
  const schema = {
    tags: ["requests"],
    summary: "Why it waits: what it needs, what is free, who is ahead, who holds the rest",
    params: IdParams,
    response: { 200: Explanation, ...problems(404, 409, 410) },
  };
  app.get("/v1/explain/:id", { schema }, async (request) => {
    const found = await broker.read((state, now) => {
      const id = requestIdOf(state, request.params.id);
      const waiting = state.requests.get(id);
      if (waiting !== undefined) {
        const needs = renderNeeds(explainNeeds(waiting, now));
        const view = requestView(waiting, now);
        return { request: renderRequest(view, now, publicAudience, insight.estimates), needs };
      }
      if (state.leases.has(id)) return granted(id);
      return problemOf(requestNotFound(state, id));
    });
    if (found instanceof Problem) throw found;
    return found;
  });
}

function granted(id: RequestId): Problem {
  return new Problem({
    code: "request_granted",
    status: 409,
    message: `Cannot explain why ${id} waits: it has been granted`,
    hint: `See the lease with GET /v1/leases/${id}`,
  });
}
