/** Who is asking: the holder, who shows the lease's token, or somebody on this very machine. */
import type { FastifyRequest } from "fastify";
import { Problem } from "../api/problem.ts";
import type { Tokens } from "../broker/tokens.ts";
import type { RequestId } from "../core/ids.ts";

function bearer(request: FastifyRequest): string | undefined {
  const header = request.headers.authorization;
  return header === undefined ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}

export function isHolder(tokens: Tokens, id: RequestId, request: FastifyRequest): boolean {
  const token = bearer(request);
  return token !== undefined && tokens.proves(id, token);
}

export function mustBeHolder(tokens: Tokens, id: RequestId, request: FastifyRequest): void {
  const token = bearer(request);
  if (token === undefined) {
    throw new Problem({
      code: "token_missing",
      status: 401,
      message: `Cannot act for the holder of ${id}: no token was sent`,
      hint: "Send the token from the reply to POST /v1/leases as Authorization: Bearer TOKEN",
    });
  }
  if (!tokens.proves(id, token)) {
    throw new Problem({
      code: "token_wrong",
      status: 403,
      message: `Cannot act for the holder of ${id}: the token belongs to another lease`,
      hint: "Use the token from the reply that granted this lease",
    });
  }
}

/** There is no authentication yet, so what affects others is for this machine only. */
export function mustBeOperator(request: FastifyRequest): void {
  if (isLoopback(request.socket.remoteAddress ?? "")) return;
  throw new Problem({
    code: "operators_only",
    status: 403,
    message: `Cannot act on behalf of others from ${request.socket.remoteAddress}`,
    hint: "Run this on the machine of the server",
  });
}

export function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
