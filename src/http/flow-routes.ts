/** Reports of holders on their provider, refreshed leases, and a start rate set by an operator. */

import Type from "typebox";
import { Problem } from "../api/problem.ts";
import {
  Lease,
  PinBody,
  Pool,
  RateHistory,
  RefreshBody,
  SignalBody,
  WaitingRequest,
} from "../api/schemas.ts";
import { nameInSpace } from "../auth/space-names.ts";
import { newRequestId } from "../broker/lease-identity.ts";
import { submitAndWait } from "../broker/submit-and-wait.ts";
import { poolNotFound } from "../core/decide/not-found.ts";
import { poolView } from "../core/explain/pool-view.ts";
import type { PoolName, RequestId } from "../core/model/ids.ts";
import type { Pool as CorePool, State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import type { App, Context } from "./context.ts";
import { originOf } from "./origin.ts";
import { problemOf } from "./problems.ts";
import { renderRateHistory } from "./render/flow.ts";
import { answerNewRequest } from "./render/lease.ts";
import { renderPool } from "./render/pool.ts";
import {
  auditFields,
  auditReason,
  Connection,
  checkCanWait,
  IdParams,
  NameParams,
  waitIn,
} from "./request.ts";
import { NoContent, problems } from "./responses.ts";
import { onlySpace, readerFor, sightOf, spaceOf } from "./sight.ts";

export function flowRoutes(app: App, context: Context): void {
  signalRoute(app, context);
  refreshRoute(app, context);
  pinRoutes(app, context);
  historyRoute(app, context);
}

function signalRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["leases"],
    summary: "Report that the provider throttled you, or that it did not",
    params: IdParams,
    body: SignalBody,
    response: { 204: NoContent, ...problems(400, 401, 403, 404, 409, 410, 503) },
  };
  app.post("/v1/leases/:id/signal", { schema }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const { throttled, evidence, pool } = request.body;
    const outcome = await broker.submit(
      {
        type: "signal",
        id,
        throttled,
        ...(evidence === undefined ? undefined : { evidence }),
        ...(pool === undefined ? undefined : { pool: pool as PoolName }),
      },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    reply.code(204);
  });
}

function refreshRoute(app: App, context: Context): void {
  const { broker } = context;
  const schema = {
    tags: ["leases"],
    summary: "Release a lease and request the same again, at the end of the queue, in one step",
    params: IdParams,
    body: RefreshBody,
    response: {
      201: Lease,
      202: WaitingRequest,
      ...problems(400, 401, 403, 404, 409, 410, 422, 503),
    },
  };
  app.post("/v1/leases/:id/refresh", { schema }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const { requestId, pool, wait } = request.body;
    const space = await broker.read((state) => spaceOf(state, id));
    const waitMs = waitIn("body.wait", wait);
    checkCanWait(context, waitMs, space);
    using connection = new Connection(request);
    const outcome = await submitAndWait(
      broker,
      {
        type: "refresh",
        id,
        next: newRequestId(broker.now()),
        waitMs,
        ...(requestId === undefined ? undefined : { key: nameInSpace(space, requestId) }),
        ...(pool === undefined ? undefined : { pool: pool as PoolName }),
      },
      { connection, from: originOf(request) },
    );
    return answerNewRequest(context, reply, outcome);
  });
}

function pinRoutes(app: App, context: Context): void {
  const { broker } = context;
  const schema = {
    tags: ["pools"],
    summary: "Set the pool's start rate, whatever holders report",
    params: NameParams,
    body: PinBody,
    response: { 200: Pool, ...problems(400, 403, 404, 503) },
  };
  app.put("/v1/pools/:name/pin", { schema }, async (request) => {
    const pool = request.params.name as PoolName;
    const { rate, by, reason } = request.body;
    const why = auditReason(request, { by, reason });
    const outcome = await broker.submit(
      { type: "pin", pool, rate, reason: why },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    return lookAt(context, pool, (found, now) =>
      renderPool(poolView(found, now), now, context, "all"),
    );
  });
  const unpin = {
    tags: ["pools"],
    summary: "Let the pool find its start rate again",
    params: NameParams,
    querystring: UnpinQuery,
    response: { 200: Pool, ...problems(403, 404, 503) },
  };
  app.delete("/v1/pools/:name/pin", { schema: unpin }, async (request) => {
    const pool = request.params.name as PoolName;
    const { by, reason } = request.query;
    const why = auditReason(request, { by, reason });
    const outcome = await broker.submit(
      { type: "pin", pool, rate: null, reason: why },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    return lookAt(context, pool, (found, now) =>
      renderPool(poolView(found, now), now, context, "all"),
    );
  });
}

const UnpinQuery = Type.Object(auditFields, { additionalProperties: false });

function historyRoute(app: App, context: Context): void {
  const schema = {
    tags: ["pools"],
    summary: "How the pool's start rate changed, and why; the last hundred changes",
    params: NameParams,
    response: { 200: RateHistory, ...problems(404) },
  };
  app.get("/v1/pools/:name/limit-history", { schema }, (request) =>
    lookAt(context, request.params.name as PoolName, (pool, _now, state) => {
      const only = onlySpace(request, state);
      const viewer = { sees: sightOf(state, only), reader: readerFor(only) };
      return renderRateHistory(pool.name, pool.rateHistory, viewer);
    }),
  );
}

async function lookAt<View>(
  context: Context,
  name: PoolName,
  render: (pool: CorePool, now: Instant, state: State) => View,
): Promise<View> {
  const found = await context.broker.read((state, now) => {
    const pool = state.pools.get(name);
    return pool === undefined ? problemOf(poolNotFound(state, name)) : render(pool, now, state);
  });
  if (found instanceof Problem) throw found;
  return found;
}
