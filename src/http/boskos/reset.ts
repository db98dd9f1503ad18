import type { FastifyReply, FastifyRequest } from "fastify";
import { countByHolder, countByState, countUndelivered } from "../../core/explain/pool-view.ts";
import { parseGoDuration } from "../../core/model/go-duration.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { onlySpace } from "../sight.ts";
import {
  failureOf,
  goJson,
  noneAvailable,
  type Query,
  sendJson,
  sendText,
  sorted,
} from "./wire.ts";

/** `POST /reset`: for a reaper that runs elsewhere. */
export async function reset(
  { broker }: Context,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const [type, state, expire, dest] = ["type", "state", "expire", "dest"].map((key) =>
    query.get(key),
  ) as [string, string, string, string];
  if (type === "" || state === "" || expire === "" || dest === "") {
    const text = `Type: ${type}, state: ${state}, expire: ${expire}, dest: ${dest}, all of them must be set in the request.`;
    return sendText(reply, { status: 400, text });
  }
  const parsed = parseGoDuration(expire);
  if (!parsed.ok) return sendText(reply, { status: 400, text: parsed.message });
  const pool = type as PoolName;
  const silentMs = parsed.durationMs;
  const outcome = await broker.submit(
    { type: "reset", pool, state, silentMs, to: dest },
    originOf(request),
  );
  if (outcome.type === "refused") {
    const { status, text } = failureOf(outcome.refusal);
    return sendText(reply, { status, text: `Reset failed: ${text}` });
  }
  if (outcome.type !== "reset") throw new Error(`Cannot reset: it is ${outcome.type}`);
  return sendJson(reply, goJson(sorted(Object.fromEntries(outcome.holders))));
}

/**
 * `GET /metric`: the number of resources of a type by state and by owner; no owner is `""`. Boskos
 * has no `undelivered`: the owners that were granted a resource and do not know it yet.
 */
export async function metric(
  { broker }: Context,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const type = query.get("type");
  if (type === "")
    return sendText(reply, { status: 400, text: "Type must be set in the request." });
  const counts = await broker.read((state) => {
    const pool = state.pools.get(type as PoolName);
    if (pool === undefined) return undefined;
    const space = onlySpace(request, state);
    return {
      current: Object.fromEntries(countByState(pool)),
      owner: Object.fromEntries(countByHolder(pool, space)),
      undelivered: Object.fromEntries(countUndelivered(pool, space)),
    };
  });
  if (counts === undefined) return sendText(reply, noneAvailable(type));
  const { current, owner, undelivered } = counts;
  const mark = Object.keys(undelivered).length > 0 ? { undelivered: sorted(undelivered) } : {};
  return sendJson(reply, goJson({ type, current: sorted(current), owner: sorted(owner), ...mark }));
}
