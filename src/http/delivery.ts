/** What becomes of a lease when the reply that tells of it does not arrive. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { LeaseView } from "../core/explain/view.ts";
import type { Site } from "./context.ts";

/** A reply that does not get through would leave a lease of which nobody knows. */
export function noticeLoss(
  { deliveries }: Site,
  leases: readonly LeaseView[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  deliveries.begin(leases);
  if (request.raw.socket.destroyed) return deliveries.end(leases, false);
  reply.raw.once("close", () => deliveries.end(leases, reply.raw.writableFinished));
}
