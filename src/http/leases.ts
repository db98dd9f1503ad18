import Type from "typebox";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import {
  AskBody,
  Duration,
  Heartbeat,
  Lease,
  Page,
  ReleaseBody,
  StateName,
  WaitingRequest,
} from "../api/schemas.ts";
import { newRequestId } from "../broker/lease-identity.ts";
import { submitAndWait } from "../broker/submit-and-wait.ts";
import { leaseNotFound } from "../core/decide/not-found.ts";
import { leaseView } from "../core/explain/view.ts";
import { isListedIn } from "../core/gates/limits.ts";
import type { Parameters } from "../core/model/cluster.ts";
import type { Ask, Item, Report } from "../core/model/command.ts";
import type { ClaimId, PoolName, RequestId } from "../core/model/ids.ts";
import { isUpkeep } from "../core/model/lifecycle.ts";
import { alternativeCount, alternativesMax } from "../core/queue/needs.ts";
import { maskOf } from "../vault/secret-patterns.ts";
import { askIn, callerOf, mustAlso } from "./authorize.ts";
import { parametersOfItems } from "./clusters/cluster-items.ts";
import type { App, Context } from "./context.ts";
import { originOf } from "./origin.ts";
import { ListQuery, pageOf } from "./paging.ts";
import { invalid, problemOf } from "./problems.ts";
import { answerNewRequest, publicAudience, renderLease, renderNotice } from "./render/lease.ts";
import {
  auditFields,
  auditReason,
  Connection,
  callingSpace,
  checkCanWait,
  checkCanWatch,
  durationIn,
  IdParams,
  isHolder,
  waitIn,
} from "./request.ts";
import { NoContent, problems } from "./responses.ts";
import { onlySpace, sightOf } from "./sight.ts";
import { timestamp } from "./timestamp.ts";

const LeasePage = Page(Lease);
const ClaimParams = Type.Object({ id: Type.String(), claim: Type.String() });

export function leaseRoutes(app: App, context: Context): void {
  acquireRoute(app, context);
  readRoutes(app, context);
  heartbeatRoute(app, context);
  releaseRoutes(app, context);
}

function acquireRoute(app: App, context: Context): void {
  const { broker } = context;
  const schema = {
    tags: ["leases"],
    summary: "Request resources; all of them are granted together, or none",
    body: AskBody,
    response: { 201: Lease, 202: WaitingRequest, ...problems(400, 404, 409, 410, 422, 429, 503) },
  };
  app.post("/v1/leases", { schema }, async (request, reply) => {
    const waitMs = waitIn("body.wait", request.body.wait);
    const caller = callerOf(request);
    checkCanWait(context, waitMs, caller.space);
    const { items } = request.body;
    const parameters = await parametersOfItems(context, caller.space ?? "", items);
    const ask = askIn(caller, askOf(request.body, parameters));
    if (ask.items.some(isUpkeep)) mustAlso(request, "clean");
    if (alternativeCount(ask) > alternativesMax) {
      const wrong = `its choices can be combined in more than ${alternativesMax} ways`;
      throw invalid("body.items", wrong, "Name fewer pools in anyOf");
    }
    using connection = new Connection(request);
    const outcome = await submitAndWait(
      broker,
      {
        type: "acquire",
        id: newRequestId(broker.now()),
        ask,
        waitMs,
        ...(request.body.nowOnly ? { nowOnly: true } : undefined),
      },
      { connection, from: originOf(request) },
    );
    return answerNewRequest(context, reply, outcome);
  });
}

const WatchQuery = Type.Object(
  {
    wait: Type.Optional(Duration),
    noticed: Type.Optional(
      Type.Literal("true", { description: "With `wait`: the caller knows of the notice already" }),
    ),
  },
  { additionalProperties: false },
);

function readRoutes(app: App, context: Context): void {
  const { broker, tokens } = context;
  const listing = {
    tags: ["leases"],
    summary: "List leases",
    querystring: ListQuery,
    response: { 200: LeasePage, ...problems(400) },
  };
  app.get("/v1/leases", { schema: listing }, (request) =>
    broker.read((state) => {
      const { query } = request;
      const { pool, holder } = query;
      const space = onlySpace(request, state);
      const wanted = state.leases.values().filter((lease) => {
        if (space !== undefined && lease.ask.space !== space) return false;
        if (holder !== undefined && lease.ask.holder !== holder) return false;
        return (
          pool === undefined || lease.claims.some(({ resource }) => isListedIn(resource.pool, pool))
        );
      });
      return pageOf(
        wanted,
        query,
        ({ id }) => id,
        (lease) => renderLease(leaseView(lease), publicAudience),
      );
    }),
  );
  const one = {
    tags: ["leases"],
    summary: "One lease; with its token also the user data of its resources",
    description:
      "With `wait` the answer comes when the lease has a notice, was revoked or has ended, or after that time",
    params: IdParams,
    querystring: WatchQuery,
    response: { 200: Lease, ...problems(400, 404, 409, 410, 503) },
  };
  app.get("/v1/leases/:id", { schema: one }, async (request) => {
    const id = request.params.id as RequestId;
    const waitMs = waitIn("query.wait", request.query.wait);
    if (waitMs > 0) {
      const space = await broker.read((state) => callingSpace(request, state, id));
      checkCanWatch(context, space);
      using connection = new Connection(request);
      const noticed = request.query.noticed === "true";
      await broker.untilLost(id, waitMs, { noticed, signal: connection.signal, space });
    }
    const found = await broker.read((state) => {
      const lease = state.leases.get(id);
      const sees = sightOf(state, onlySpace(request, state, id));
      if (!sees(id)) return problemOf({ code: "lease_not_found", id });
      if (lease !== undefined)
        return renderLease(leaseView(lease), { secrets: isHolder(tokens, id, request) });
      return problemOf(leaseNotFound(state, id));
    });
    if (found instanceof Problem) throw found;
    return found;
  });
}

function heartbeatRoute(app: App, { broker }: Context): void {
  const schema = {
    tags: ["leases"],
    summary: "Send a heartbeat, which keeps the lease for another ttl",
    params: IdParams,
    response: { 200: Heartbeat, ...problems(401, 403, 404, 409, 410) },
  };
  app.post("/v1/leases/:id/heartbeat", { schema }, async (request) => {
    const id = request.params.id as RequestId;
    const outcome = await broker.submit({ type: "renew", id });
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    if (outcome.type !== "granted") throw new Error(`Cannot renew ${id}: it is ${outcome.type}`);
    const { expiresAt, endsAt } = outcome.lease;
    if (expiresAt === null) throw new Error(`Cannot renew ${id}: it has a token but no ttl`);
    return {
      id,
      expiresAt: timestamp(expiresAt),
      endsAt: endsAt === null ? null : timestamp(endsAt),
      ...renderNotice(outcome.lease),
    };
  });
}

const ReleaseQuery = Type.Object(
  { state: Type.Optional({ ...StateName, description: "Instead of the pool's onRelease" }) },
  { additionalProperties: false },
);

const EndQuery = Type.Object(
  {
    ...ReleaseQuery.properties,
    force: Type.Optional(
      Type.Literal("true", {
        description:
          "An operator ends the lease of another. Its resources are lent again when the holder " +
          "has released it, or its ttl since the last heartbeat is over",
      }),
    ),
    gone: Type.Optional(
      Type.Literal("true", {
        description: "With `force`: the holder is known to be gone, so nobody waits for it",
      }),
    ),
    ...auditFields,
  },
  { additionalProperties: false },
);

function releaseRoutes(app: App, { auth, broker, vault }: Context): void {
  // The token of a lease does not tell the role of who has asked for it.
  const stateOf = (state: string | undefined) =>
    state !== undefined && { state, ...(auth.isOn && { asHolder: true as const }) };
  const whole = {
    tags: ["leases"],
    summary: "Release a lease; repeating it is safe",
    params: IdParams,
    querystring: EndQuery,
    body: ReleaseBody,
    response: { 204: NoContent, ...problems(401, 403, 404, 409, 410, 422, 503) },
  };
  app.delete("/v1/leases/:id", { schema: whole }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const { force, gone, by, reason, state } = request.query;
    if (gone !== undefined && force === undefined) {
      throw invalid("query.gone", "it needs force", "Add force=true, or leave gone out");
    }
    const { failure, throttled, evidence } = request.body ?? {};
    const outcome = await broker.submit(
      force === undefined
        ? {
            type: "release",
            id,
            ...stateOf(state),
            // The text comes from the program of a cleaner or a driver.
            ...(failure === undefined
              ? undefined
              : { failure: maskOf(vault.redactor).clean(failure) }),
            ...(throttled === undefined ? undefined : { outcome: reportOf(throttled, evidence) }),
          }
        : {
            type: "revoke",
            id,
            reason: auditReason(request, { by, reason }),
            ...(gone === undefined ? undefined : { holderGone: true }),
          },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    reply.code(204);
  });
  const one = {
    tags: ["leases"],
    summary: "Release one claim; the lease keeps the others",
    params: ClaimParams,
    querystring: ReleaseQuery,
    response: { 204: NoContent, ...problems(401, 403, 404, 409, 410, 422, 503) },
  };
  app.delete("/v1/leases/:id/claims/:claim", { schema: one }, async (request, reply) => {
    const id = request.params.id as RequestId;
    const { state } = request.query;
    const claim = request.params.claim as ClaimId;
    const outcome = await broker.submit(
      { type: "release", id, claim, ...stateOf(state) },
      originOf(request),
    );
    if (outcome.type === "refused") throw problemOf(outcome.refusal);
    reply.code(204);
  });
}

function reportOf(throttled: boolean, evidence: string | undefined): Report {
  return { throttled, ...(evidence === undefined ? undefined : { evidence }) };
}

interface ItemPools {
  readonly pool: string | undefined;
  readonly anyOf: readonly string[] | undefined;
}

/** One pool, or the first of several that can serve. */
function poolsOfItem({ pool, anyOf }: ItemPools, index: number): Pick<Item, "pool" | "anyOf"> {
  if ((pool === undefined) === (anyOf === undefined)) {
    const both = pool === undefined ? "neither pool nor anyOf" : "both pool and anyOf";
    throw invalid(`body.items[${index}]`, `it has ${both}`, "Give one of them");
  }
  const [first = pool, ...others] = [...new Set(anyOf)];
  return {
    pool: first as PoolName,
    ...(others.length === 0 ? undefined : { anyOf: others as PoolName[] }),
  };
}

/** A number, or the name of a class. */
export function priorityOf(
  priority: number | string | undefined,
): Pick<Ask, "priority" | "priorityClass"> {
  if (priority === undefined) return {};
  return typeof priority === "number" ? { priority } : { priorityClass: priority };
}

function askOf(body: AskBody, parameters: readonly (Parameters | undefined)[] = []): Ask {
  const { ttlMsMin, ttlMsMax, lifetimeMsMin, lifetimeMsMax } = limits;
  const { holder, requestId, ttl, lifetime, priority, labels, group } = body;
  const ttlRange = { minMs: ttlMsMin, maxMs: ttlMsMax };
  const lifetimeRange = { minMs: lifetimeMsMin, maxMs: lifetimeMsMax };
  return {
    holder,
    items: body.items.map(({ pool, anyOf, count, credentials: _, ...rest }, index) => ({
      ...poolsOfItem({ pool, anyOf }, index),
      count: count ?? 1,
      ...rest,
      ...(parameters[index] === undefined ? undefined : { parameters: parameters[index] }),
    })),
    ...(group === undefined ? undefined : { group: { size: 1, ...group } }),
    ...(requestId === undefined ? undefined : { key: requestId }),
    ...(ttl === undefined ? undefined : { ttlMs: durationIn("body.ttl", ttl, ttlRange) }),
    ...(lifetime === undefined
      ? undefined
      : { lifetimeMs: durationIn("body.lifetime", lifetime, lifetimeRange) }),
    ...priorityOf(priority),
    ...(labels === undefined ? undefined : { labels }),
  };
}
