/** How many may wait on open connections, and how a request's standing is answered. */
import type { FastifyReply } from "fastify";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import type { Lease, WaitingRequest } from "../api/schemas.ts";
import type { Outcome } from "../core/model/outcome.ts";
import type { Site } from "./context.ts";
import { problemOf } from "./problems.ts";
import { type Audience, renderLease, renderRequest } from "./render/lease.ts";

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
