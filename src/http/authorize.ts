/** Checks before every route who calls, and whether that caller may. */
import type { FastifyRequest, FastifySchema } from "fastify";
import { Problem } from "../api/problem.ts";
import type { Principal } from "../auth/principal.ts";
import { credentialsMissing, forbidden } from "../auth/refusals.ts";
import { type Action, mayDo } from "../auth/roles.ts";
import { nameInSpace } from "../auth/space-names.ts";
import type { Ask } from "../core/model/command.ts";
import type { RequestId, SpaceName } from "../core/model/ids.ts";
import { type Access, accessOf, type LeaseAccess } from "./access.ts";
import { certificateOf } from "./client-certificate.ts";
import type { App, Context } from "./context.ts";
import { callerAddress } from "./proxies.ts";
import { auditRefusedCall, auditRefusedHolder, auditRefusedSignIn } from "./refused-attempts.ts";
import { isHolder, localPrincipal, mustBeHolder, operatorProblem } from "./request.ts";
import { problems } from "./responses.ts";
import { renewSession, sessionOf } from "./session-cookie.ts";
import { limitedTo } from "./sight.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null until `authorize` has run, and on routes that need no credentials. */
    principal: Principal | null;
  }
  interface FastifyContextConfig {
    access?: Access;
  }
}

export function authorizeCalls(app: App, context: Context): void {
  app.decorateRequest("principal", null);
  app.addHook("onRoute", (route) => {
    const methods = [route.method].flat().filter((method) => method !== "HEAD");
    const [access, ...others] = methods.map((method) => accessOf(method, route.url));
    if (others.some((other) => other !== access))
      throw new Error(`Cannot mix access: ${route.url}`);
    // A HEAD route is made from its GET route, after it.
    route.config = { ...route.config, access: access ?? accessOf("GET", route.url) };
    if (route.config.access !== "open") documentAccess(route);
  });
  // With a callback: a promise for every call would cost more than the check.
  app.addHook("onRequest", (request, reply, done) => {
    const go = (): void => {
      if (request.principal !== null) renewSession(context, request, reply);
      done();
    };
    try {
      const checked = authorize(context, request);
      if (checked === undefined) go();
      else checked.then(go, done);
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Adds to the OpenAPI document what every call that needs credentials has in common. */
function documentAccess({ schema }: { schema?: FastifySchema }): void {
  if (schema === undefined || schema.hide) return;
  schema.security = [{ token: [] }];
  schema.response = { ...problems(401, 403), ...Object(schema.response) };
}

/** Returns a promise only if the credentials must be checked elsewhere. Throws a Problem. */
function authorize(context: Context, request: FastifyRequest): Promise<void> | undefined {
  const { access } = request.routeOptions.config;
  // Unknown paths have no route, and their answer has no data.
  if (access === undefined || access === "open") return undefined;
  if (typeof access === "string") return mustMay(context, request, access);
  const { id } = request.params as { readonly id: RequestId };
  const { force } = request.query as { readonly force?: unknown };
  if (force !== undefined && access.forced !== undefined) {
    return mustMay(context, request, access.forced);
  }
  if (access.or !== undefined && !isHolder(context.tokens, id, request)) {
    return mustMay(context, request, access.or);
  }
  checkHolder(context, request, id, access);
  return undefined;
}

/** The calls of a lease have a limit of their own, so that no other caller can use it up. */
function checkHolder(
  context: Context,
  request: FastifyRequest,
  id: RequestId,
  { secret }: LeaseAccess,
): void {
  const { auth, broker, tokens } = context;
  try {
    mustBeHolder(tokens, id, request);
  } catch (error) {
    if (secret) auditRefusedHolder(context, request);
    throw request.headers.authorization === undefined ? error : asFailure(context, request, error);
  }
  if (auth.isOn) auth.limits.countLeaseCall(id, broker.now());
}

function mustMay(
  context: Context,
  request: FastifyRequest,
  action: Action,
): Promise<void> | undefined {
  const found = principalOf(context, request);
  if (found instanceof Promise) {
    return found.then((one) => setCaller(context, request, one, action));
  }
  setCaller(context, request, found, action);
  return undefined;
}

function setCaller(
  context: Context,
  request: FastifyRequest,
  principal: Principal,
  action: Action,
): void {
  request.principal = principal;
  const { auth, broker } = context;
  if (auth.isOn) auth.limits.countCall(principal, () => callerAddress(request), broker.now());
  try {
    checkMay(request, principal, action);
  } catch (error) {
    if (action === "operate") auditRefusedCall(context, request, principal);
    throw error;
  }
}

/** Who sends the call. Throws a Problem if it has no valid credentials. */
export function principalOf(
  context: Context,
  request: FastifyRequest,
): Principal | Promise<Principal> {
  const { auth } = context;
  if (!auth.isOn) return localPrincipal(request);
  const { authorization } = request.headers;
  if (authorization !== undefined) return authenticate(context, request, authorization);
  const session = sessionOf(context, request);
  if (session === undefined) return auth.authenticateByCertificate(certificateOf(request));
  if ("token" in session) return authenticate(context, request, `Bearer ${session.token}`);
  return auth.principalOfSession(session.signedIn);
}

/** The same for credentials that stand elsewhere in the call. */
export function authenticate(
  context: Context,
  request: FastifyRequest,
  authorization: string,
): Principal | Promise<Principal> {
  const { auth, broker } = context;
  const refuse = (error: unknown): never => {
    auditRefusedSignIn(context, request, error);
    throw asFailure(context, request, error);
  };
  try {
    const found = auth.authenticate(authorization, () =>
      auth.limits.mustMayFail(callerAddress(request), broker.now()),
    );
    return found instanceof Promise ? found.catch(refuse) : found;
  } catch (error) {
    return refuse(error);
  }
}

/** Counts refused credentials against the address. Beyond its limit the answer is 429. */
function asFailure({ auth, broker }: Context, request: FastifyRequest, error: unknown): unknown {
  const isRefusal = error instanceof Problem && (error.status === 401 || error.status === 403);
  if (!isRefusal || !auth.isOn) return error;
  return auth.limits.countFailure(callerAddress(request), broker.now()) ?? error;
}

/** Whether the caller of a long answer may go on reading: a token may have expired or been removed. */
export async function isStillAllowed(
  context: Context,
  request: FastifyRequest,
  action: Action,
): Promise<boolean> {
  try {
    const now = await principalOf(context, request);
    // A feed shows what its caller could see when it was opened.
    const same = limitedTo(now) === limitedTo(callerOf(request));
    return same && now.space === callerOf(request).space && mayDo(now.role, action);
  } catch {
    return false;
  }
}

function checkMay(request: FastifyRequest, principal: Principal, action: Action): void {
  if (mayDo(principal.role, action)) return;
  // Without authentication there are no spaces, and the caller's machine decides.
  const local = principal.space === undefined ? operatorProblem(request) : undefined;
  throw local ?? forbidden(principal, action);
}

/** For a call that needs more than its route: another action, by what its body asks for. */
export function mustAlso(request: FastifyRequest, action: Action): void {
  checkMay(request, callerOf(request), action);
}

/** The ask as one of the caller's space. */
export function askIn({ space }: Principal, ask: Ask): Ask {
  if (space === undefined) return ask;
  const { key, group } = ask;
  return {
    ...ask,
    space,
    ...(key === undefined ? undefined : { key: nameInSpace(space, key) }),
    ...(group === undefined
      ? undefined
      : { group: { ...group, name: nameInSpace(space, group.name) } }),
  };
}

/** The space of the caller, for commands that name a holder. */
export function inSpaceOf(request: FastifyRequest): { space?: SpaceName } {
  const { space } = callerOf(request);
  return space === undefined ? {} : { space };
}

/** The caller of a route that needs credentials. */
export function callerOf({ principal }: FastifyRequest): Principal {
  if (principal === null) throw credentialsMissing();
  return principal;
}
