/** The headers of every page: what a browser may load and run there, and what it may send on. */
import type { FastifyReply } from "fastify";

/**
 * A page loads nothing from elsewhere and has no inline script, so a holder's name can never become
 * a script. No other page can show it in a frame.
 */
export function pagePolicy(...allowed: readonly string[]): string {
  const never = ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
  return ["default-src 'none'", ...allowed, ...never].join("; ");
}

export function withPageHeaders(reply: FastifyReply, policy: string): FastifyReply {
  return reply
    .header("content-security-policy", policy)
    .header("referrer-policy", "no-referrer")
    .header("x-content-type-options", "nosniff");
}
