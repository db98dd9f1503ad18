/** What becomes of a lease when the reply that tells of it does not arrive. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RequestId } from "../core/ids.ts";
import type { LeaseView } from "../core/view.ts";
import type { Site } from "./site.ts";

/** The replies under way that tell of a lease: one that fails means nothing if another arrives. */
const underWay = new Map<RequestId, { open: number; arrived: boolean; told: number }>();

/** A reply that does not get through would leave a lease of which nobody knows. */
export function noticeLoss(
  { broker }: Site,
  leases: readonly LeaseView[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const ended = (arrived: boolean): void => {
    for (const { id } of leases) {
      const replies = underWay.get(id);
      if (replies === undefined) continue;
      replies.open -= 1;
      replies.arrived ||= arrived;
      if (replies.open > 0) continue;
      underWay.delete(id);
      const { told } = replies;
      // If even this cannot be written down, the reaper has it in the end.
      if (!replies.arrived) broker.submit({ type: "not-delivered", id, told }).catch(() => {});
    }
  };
  for (const { id, told } of leases) {
    const { open, arrived } = underWay.get(id) ?? { open: 0, arrived: false };
    underWay.set(id, { open: open + 1, arrived, told });
  }
  if (request.raw.socket.destroyed) return ended(false);
  reply.raw.once("close", () => ended(reply.raw.writableFinished));
}
