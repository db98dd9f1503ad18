/** Waiting on an open connection, and telling where a request stands. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import type { Lease, WaitingRequest } from "../api/schemas.ts";
import { standing } from "../core/decide/acquire.ts";
import type { RequestView } from "../core/explain/view.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { Site } from "./context.ts";
import { problemOf } from "./problems.ts";
import { type Audience, renderLease, renderRequest } from "./render/lease.ts";

export interface Listening {
  readonly id: RequestId;
  readonly waitMs: number;
  /** It is the one who asked, not an onlooker. */
  readonly present: boolean;
}

/** Resolves with "gone" when the connection closed first, with "told" when there is news or time is up. */
export async function listen(
  { broker }: Site,
  request: FastifyRequest,
  { id, waitMs, present }: Listening,
): Promise<"told" | "gone"> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  // The socket, not the reply: one that is pipelined behind another has no connection of its own yet.
  const { socket } = request.raw;
  socket.once("close", abort);
  if (socket.destroyed) gone.abort();
  await broker.untilSettled(id, waitMs, { present, signal: gone.signal });
  socket.removeListener("close", abort);
  return gone.signal.aborted ? "gone" : "told";
}

/**
 * Where a new request stands once there is news or time is up. When the connection closes first, a
 * request without an id of the client's own leaves: nobody could come back for it.
 */
export async function fateOf(
  site: Site,
  { id, key }: RequestView,
  waitMs: number,
  request: FastifyRequest,
): Promise<Outcome> {
  if ((await listen(site, request, { id, waitMs, present: true })) === "gone") {
    // First the sign that needs no journal: if leaving cannot be written down, it lapses by itself.
    await hangUp(site, id);
    if (key === undefined) return site.broker.submit({ type: "leave", id, why: "disconnected" });
  }
  return standingOf(site, id);
}

export function standingOf({ broker }: Site, id: RequestId): Promise<Outcome> {
  return broker.look((state, now) => standing(state, id, now));
}

/** The connection is gone, but its client may come back: from now on it has one ttl for that. */
export async function hangUp({ broker }: Site, id: RequestId): Promise<void> {
  await broker.submit({ type: "keep-waiting", id, waitMs: 0 });
}

export function hasRoomToWait({ broker }: Site): boolean {
  return broker.openWaits < limits.openWaitsMax;
}

export function mustHaveRoomToWait(site: Site, waitMs: number): void {
  if (waitMs === 0 || hasRoomToWait(site)) return;
  throw new Problem({
    code: "too_many_waits",
    status: 503,
    message: `Cannot hold the connection open: ${limits.openWaitsMax} already wait`,
    hint: "Ask without wait and poll, or try again in a moment",
  });
}

/**
 * 200 or 201 with the lease, 202 with the place in line. The body is returned, not sent: a handler
 * that returns the reply makes the framework wait for it once more.
 */
export function answerStanding(
  { broker, insight }: Site,
  reply: FastifyReply,
  outcome: Outcome,
  audience: Audience,
  granted: 200 | 201,
): Lease | WaitingRequest | undefined {
  switch (outcome.type) {
    case "granted":
      reply.code(granted);
      return renderLease(outcome.lease, audience);
    case "waiting":
      reply.code(202);
      return renderRequest(outcome.request, broker.now(), audience, insight.estimates);
    case "refused":
      throw problemOf(outcome.refusal);
    default:
      // The connection is gone and so is the request: nobody reads this.
      reply.code(204);
      return undefined;
  }
}
