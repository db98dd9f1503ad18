import type { FastifyRequest } from "fastify";
import { Problem } from "../api/problem.ts";
import { Whoami } from "../api/schemas.ts";
import type { Principal } from "../auth/principal.ts";
import { forbidden } from "../auth/refusals.ts";
import { mayDo } from "../auth/roles.ts";
import type { Session } from "../auth/sessions.ts";
import { principalOf } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { hostOf } from "./proxies.ts";
import { operatorProblem } from "./request.ts";
import { sessionOf } from "./session-cookie.ts";
import { timestamp } from "./timestamp.ts";

/** So that the page shows no button that the server would refuse, and says why. */
export function whoamiRoute(app: App, context: Context): void {
  const schema = {
    tags: ["page"],
    summary: "What the caller may do, and what the server's clock says",
    response: { 200: Whoami },
  };
  app.get("/v1/whoami", { schema }, async (request) => {
    const caller = await principalOrProblem(context, request);
    const isBySession =
      context.auth.isOn && !(caller instanceof Problem) && !request.headers.authorization;
    const session = isBySession ? sessionOf(context, request) : undefined;
    return describeCaller(context, request, caller, session);
  });
}

/** A problem: the credentials are missing or wrong. */
export function describeCaller(
  context: Context,
  request: FastifyRequest,
  caller: Principal | Problem,
  session?: Pick<Session, "id" | "untilMs">,
): Whoami {
  const { broker, version, auth } = context;
  const refusal = caller instanceof Problem ? caller : whyNoOperator(context, request, caller);
  const { name, space, role, proof } = caller instanceof Problem ? nobody : caller;
  return {
    authentication: auth.isOn,
    ...{ name, space: space ?? null, role, proof },
    session: session?.id ?? null,
    sessionEndsAt: session === undefined ? null : new Date(session.untilMs).toISOString(),
    operator: refusal === undefined,
    refusal: refusal === undefined ? null : `${refusal.message}. ${refusal.hint}`,
    version,
    now: timestamp(broker.now()),
    startedAt: new Date(context.startedAtMs).toISOString(),
    head: broker.head,
  };
}

const nobody = { name: null, space: null, role: null, proof: null };

async function principalOrProblem(
  context: Context,
  request: FastifyRequest,
): Promise<Principal | Problem> {
  try {
    return await principalOf(context, request);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function whyNoOperator(
  { auth }: Context,
  request: FastifyRequest,
  caller: Principal,
): Problem | undefined {
  if (auth.isOn) return mayDo(caller.role, "operate") ? undefined : forbidden(caller, "operate");
  // Browsers name the page's origin only when it changes something; it is where it was fetched.
  return operatorProblem(request, `http://${hostOf(request)}`);
}
