import type { FastifyReply, FastifyRequest } from "fastify";
import { newRequestId } from "../../broker/lease-identity.ts";
import { submitAndWait } from "../../broker/submit-and-wait.ts";
import type { LeaseView } from "../../core/explain/view.ts";
import type { Ask } from "../../core/model/command.ts";
import type { PoolName, ResourceName } from "../../core/model/ids.ts";
import { isUpkeep } from "../../core/model/lifecycle.ts";
import type { Outcome } from "../../core/model/outcome.ts";
import { askIn, callerOf, inSpaceOf, mustAlso } from "../authorize.ts";
import { withOwnCredentials } from "../clusters/cluster-items.ts";
import type { Context } from "../context.ts";
import { priorityOf } from "../leases.ts";
import { originOf } from "../origin.ts";
import { Connection, canWait, trackDelivery } from "../request.ts";
import { type AcquireOptions, parseAcquireOptions } from "./acquire-options.ts";
import type { BoskosMetrics } from "./metrics.ts";
import {
  boskosResource,
  failureOf,
  goJson,
  noneAvailable,
  type Query,
  sendJson,
  sendText,
} from "./wire.ts";

/** `POST /acquire`: with a request id it stands in line between its calls, without one it does not. */
export async function acquire(
  context: Context,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
  metrics: BoskosMetrics,
): Promise<FastifyReply> {
  const [type, state, dest, owner] = ["type", "state", "dest", "owner"].map((key) =>
    query.get(key),
  ) as [string, string, string, string];
  if (type === "" || state === "" || dest === "" || owner === "") {
    const text = `Bad request: Type: ${type}, state: ${state}, dest: ${dest}, owner: ${owner}, all of them must be set in the request.`;
    return sendText(reply, { status: 400, text });
  }
  const options = parseAcquireOptions(query, request);
  if ("error" in options) {
    return sendText(reply, { status: 400, text: `Acquire failed: ${options.error}` });
  }
  const requestId = query.get("request_id");
  if (isUpkeep({ state, into: dest })) mustAlso(request, "clean");
  const wanted = askOf(context, { type, state, dest, owner, requestId }, options);
  const caller = callerOf(request);
  const ask = await withOwnCredentials(context, caller, askIn(caller, wanted));
  const outcome = await acquireOrWait(context, ask, options, request);
  if (outcome.type === "granted") {
    metrics.acquired(outcome.lease, { type, state, dest, hasRequestId: requestId !== "" });
    const [claim] = outcome.lease.claims;
    if (claim !== undefined) {
      trackDelivery(context, [outcome.lease], request, reply);
      reply.header("berth-lease", outcome.lease.id);
      return sendJson(reply, goJson(boskosResource(outcome.lease, claim)));
    }
  }
  const { status, text } =
    outcome.type === "refused" ? failureOf(outcome.refusal) : noneAvailable(type);
  return sendText(reply, { status, text: `Acquire failed: ${text}` });
}

interface Wanted {
  readonly type: string;
  readonly state: string;
  readonly dest: string;
  readonly owner: string;
  readonly requestId: string;
}

function askOf(
  { boskos }: Context,
  { type, state, dest, owner, requestId }: Wanted,
  { priority, choice }: AcquireOptions,
): Ask {
  const identity = [type, state, dest, owner, requestId, ...(choice === undefined ? [] : [choice])];
  return {
    holder: owner,
    items: [{ pool: type as PoolName, count: 1, state, into: dest, ...choice }],
    ttlMs: null,
    byName: true,
    ...priorityOf(priority),
    // One id may be used for several types and states; it means another request then.
    ...(requestId === ""
      ? undefined
      : {
          key: `boskos ${JSON.stringify(identity)}`,
          presenceMs: boskos.requestTtlMs,
        }),
  };
}

/**
 * Keeps the HTTP call open for a short time, so that a polling client gets a resource as soon as it
 * is free. The call never stays open for longer than the client says that it waits.
 */
async function acquireOrWait(
  context: Context,
  ask: Ask,
  options: AcquireOptions,
  request: FastifyRequest,
): Promise<Outcome> {
  const { broker, boskos } = context;
  const mayWait = ask.key !== undefined && canWait(context, ask.space);
  const waitMs = mayWait ? Math.min(boskos.waitMs, options.waitMs ?? boskos.waitMs) : 0;
  using connection = new Connection(request);
  // `await`, not the promise alone: the connection is watched until the outcome is known.
  return await submitAndWait(
    broker,
    {
      type: "acquire",
      id: newRequestId(broker.now()),
      ask,
      waitMs,
      ...(ask.key === undefined ? { nowOnly: true } : undefined),
    },
    { connection, from: originOf(request) },
  );
}

/** `POST /acquirebystate`: these very resources, all or none. */
export async function acquireByState(
  context: Context,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { broker } = context;
  const [state, dest, owner, names] = ["state", "dest", "owner", "names"].map((key) =>
    query.get(key),
  ) as [string, string, string, string];
  if (state === "" || dest === "" || owner === "" || names === "") {
    const text = `state: ${state}, dest: ${dest}, owner: ${owner}, names: ${names} - all of them must be set in the request.`;
    return sendText(reply, { status: 400, text });
  }
  const resources = [...new Set(names.split(","))] as ResourceName[];
  const now = broker.now();
  const outcome = await broker.submit(
    {
      type: "take",
      holder: owner,
      ...inSpaceOf(request),
      resources,
      ids: resources.map(() => newRequestId(now)),
      state,
      into: dest,
    },
    originOf(request),
  );
  if (outcome.type === "taken") {
    trackDelivery(context, outcome.leases, request, reply);
    reply.header("berth-lease", outcome.leases.map(({ id }) => id).join(", "));
    return sendJson(reply, `${goJson(outcome.leases.flatMap(resourcesOf))}\n`);
  }
  const { status, text } =
    outcome.type === "refused" ? failureOf(outcome.refusal) : noneAvailable(state);
  return sendText(reply, { status, text: `AcquireByState: ${text}` });
}

function resourcesOf(lease: LeaseView): object[] {
  return lease.claims.map((claim) => boskosResource(lease, claim));
}
