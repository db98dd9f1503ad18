import type { FastifyReply, FastifyRequest } from "fastify";
import type { LeaseView } from "../core/view.ts";
import type { Site } from "./site.ts";

/** A reply that does not get through would leave a lease of which nobody knows. */
export function noticeLoss(
  { broker }: Site,
  leases: readonly LeaseView[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const undo = (): void => {
    // If even this cannot be written down, the reaper has it in the end.
    for (const { id } of leases) broker.submit({ type: "not-delivered", id }).catch(() => {});
  };
  if (request.raw.socket.destroyed) return undo();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) undo();
  });
}
