import type { FastifyReply, FastifyRequest } from "fastify";
import { notGrantedCode, type Wanted } from "../../api/lease-proxy.ts";
import { Problem } from "../../api/problem.ts";
import { newRequestId } from "../../broker/lease-identity.ts";
import { submitAndWait } from "../../broker/submit-and-wait.ts";
import type { Ask } from "../../core/model/command.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { Outcome } from "../../core/model/outcome.ts";
import { askIn, callerOf } from "../authorize.ts";
import { withOwnCredentials } from "../clusters/cluster-items.ts";
import type { Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { problemOf } from "../problems.ts";
import { Connection, checkCanWait, trackDelivery } from "../request.ts";

/** As long as the original's clients are used to waiting. */
const timeoutMsDefault = 2 * 3_600_000;

/** Nobody sends heartbeats here, so this is how long a forgotten lease lasts where no hold ends it. */
const ttlMs = 4 * 3_600_000;

/** A client with a key has this long to ask again: its place, or its lease, is kept meanwhile. */
const presenceMs = 60_000;

export interface Asker {
  readonly holder: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** All of it or nothing, and only for a client that is still connected. */
export async function acquire(context: Context, wanted: Wanted, asker: Asker): Promise<string[]> {
  const caller = callerOf(asker.request);
  const ask = await withOwnCredentials(context, caller, askIn(caller, askOf(wanted, asker)));
  const timeoutMs = wanted.timeoutMs ?? timeoutMsDefault;
  checkCanWait(context, timeoutMs, caller.space);
  const outcome = await acquireOrWait(context, ask, timeoutMs, asker.request);
  if (outcome.type === "refused") throw problemOf(outcome.refusal);
  if (outcome.type !== "granted") throw notGranted(wanted.type);
  trackDelivery(context, [outcome.lease], asker.request, asker.reply);
  asker.reply.header("berth-lease", outcome.lease.id);
  return outcome.lease.claims.map(({ resource }) => resource);
}

function askOf({ type, count }: Wanted, { holder, request }: Asker): Ask {
  const key = request.headers["idempotency-key"];
  return {
    holder,
    items: [{ pool: type as PoolName, count, into: "leased" }],
    ttlMs,
    byName: true,
    ...(typeof key === "string" && key !== ""
      ? { key: `lease-proxy ${JSON.stringify([holder, type, count, key])}`, presenceMs }
      : undefined),
  };
}

async function acquireOrWait(
  { broker }: Context,
  ask: Ask,
  waitMs: number,
  request: FastifyRequest,
): Promise<Outcome> {
  using connection = new Connection(request);
  // `await`, not the promise alone: the connection is watched until the outcome is known.
  return await submitAndWait(
    broker,
    {
      type: "acquire",
      id: newRequestId(broker.now()),
      ask,
      waitMs,
      ...(waitMs === 0 ? { nowOnly: true } : undefined),
    },
    { connection, whenTimedOut: "leave", from: originOf(request) },
  );
}

function notGranted(type: string): Problem {
  return new Problem({
    code: notGrantedCode,
    status: 500,
    message: `Cannot lend ${type}: nothing came free in time`,
    hint: "Wait longer, or ask for less",
  });
}
