/** Records in the audit who was refused. An entry never has a part of the credentials. */
import type { FastifyRequest } from "fastify";
import { Problem } from "../api/problem.ts";
import type { Principal } from "../auth/principal.ts";
import type { Context } from "./context.ts";
import { wayOf } from "./origin.ts";
import { callerAddress } from "./proxies.ts";

/** A caller has tried to act on behalf of others. */
export function auditRefusedCall(
  { insight }: Context,
  request: FastifyRequest,
  { name, space, role }: Principal,
): void {
  const { id, name: object } = request.params as { readonly id?: string; readonly name?: string };
  insight.audit.attempted({
    action: "call-refused",
    way: wayOf(request),
    ...(space === undefined ? undefined : { by: name, space }),
    ...(id === undefined ? undefined : { lease: id }),
    detail: {
      ...{ call: callOf(request), role, address: callerAddress(request) },
      ...(object === undefined ? undefined : { object }),
    },
  });
}

/** Somebody without the token of a lease has asked for what only its holder may have. */
export function auditRefusedHolder({ insight }: Context, request: FastifyRequest): void {
  const { id } = request.params as { readonly id: string };
  insight.audit.attempted({
    action: "call-refused",
    way: wayOf(request),
    lease: id,
    detail: { call: callOf(request), address: callerAddress(request) },
  });
}

/** Somebody has sent credentials that are not accepted. */
export function auditRefusedSignIn(
  { insight }: Context,
  request: FastifyRequest,
  error: unknown,
): void {
  if (!(error instanceof Problem) || (error.status !== 401 && error.status !== 403)) return;
  insight.audit.attempted({
    action: "sign-in-refused",
    way: wayOf(request),
    reason: error.message,
    detail: { call: callOf(request), address: callerAddress(request) },
  });
}

/** The path as the route has it, because a URL may contain anything. */
function callOf({ method, routeOptions }: FastifyRequest): string {
  return `${method} ${routeOptions.url ?? "?"}`;
}
