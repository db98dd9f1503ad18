import type { FastifyRequest } from "fastify";

/** A call that has no query at all is none of Boskos's: all of theirs are in the query. */
export function isCapacityCall({ raw, body }: FastifyRequest): boolean {
  return !(raw.url ?? "").includes("?") && typeof body === "string" && body.trim() !== "";
}
