/** Who is asking: the holder, who shows the lease's token, or an operator on this machine. */
import type { FastifyRequest } from "fastify";
import { Problem } from "../api/problem.ts";
import type { Tokens } from "../broker/tokens.ts";
import type { RequestId } from "../core/model/ids.ts";

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

export function mustBeOperator(request: FastifyRequest): void {
  const refusal = operatorProblem(request);
  if (refusal !== undefined) throw refusal;
}

/**
 * There is no authentication yet, so what affects others is for this machine only. A browser on this
 * machine also acts for whatever site it shows, and any site may give its name this address: so what
 * comes from a page must come from one that was opened under an address of this machine.
 */
export function operatorProblem(
  request: FastifyRequest,
  page: string | undefined = request.headers.origin,
): Problem | undefined {
  const from = request.socket.remoteAddress ?? "";
  if (!isLoopback(from)) return operatorsOnly(from);
  if (page === undefined) return undefined;
  const name = hostOf(page);
  return name === "localhost" || isLoopback(name)
    ? undefined
    : operatorsOnly(`the page at ${name}`);
}

function operatorsOnly(from: string): Problem {
  return new Problem({
    code: "operators_only",
    status: 403,
    message: `Cannot act on behalf of others from ${from}`,
    hint: "Run this on the machine of the server; a page there must be opened as localhost",
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "elsewhere";
}

export function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./.test(address);
}
