/** Signs users of the page in through an issuer, and says through which. */
import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { Problem } from "../api/problem.ts";
import { SignInOffer, SignInStarted, Whoami } from "../api/schemas.ts";
import { sessionLengthMax } from "../auth/sessions.ts";
import type { App, Context } from "./context.ts";
import { problems } from "./responses.ts";
import { mustBeOwnPage, setSessionCookie } from "./session-cookie.ts";
import { describeCaller } from "./whoami.ts";

/** As the clients of the page are registered at their issuers. The page itself is shown there. */
const callbackPath = "/sign-in/callback";
/** Changed with the configuration file, and asked by every `berth login`. */
const offerSeconds = 60;

const Start = Type.Object(
  { issuer: Type.String({ minLength: 1, maxLength: 2_048 }) },
  { additionalProperties: false },
);
const Finish = Type.Object(
  {
    transaction: Type.String({ minLength: 1, maxLength: 8_192 }),
    answer: Type.String({
      maxLength: 8_192,
      description: "The query with which the issuer has sent the browser back",
    }),
  },
  { additionalProperties: false },
);

export function signInRoutes(app: App, context: Context): void {
  offerRoute(app, context);
  const { signIn, sessions } = context;
  const start = {
    tags: ["page"],
    summary: "Begin to sign in through an issuer: where the browser must go",
    body: Start,
    response: { 200: SignInStarted, ...problems(400, 403, 404, 409, 502, 503) },
  };
  app.post("/v1/sign-in", { schema: start }, async (request) => {
    mustBeOwnPage(request);
    return signIn.start(request.body.issuer, redirectUri(context, request));
  });
  const finish = {
    tags: ["page"],
    summary: "Finish to sign in; the answer sets a cookie that only the server can read",
    body: Finish,
    response: { 200: Whoami, ...problems(400, 401, 403, 404, 502, 503) },
  };
  app.post("/v1/sign-in/finish", { schema: finish }, async (request, reply) => {
    mustBeOwnPage(request);
    const { transaction, answer } = request.body;
    const { principal, signedIn, sessionMs, mostMs } = await signIn.finish(transaction, answer);
    const session = sessions.start({ signedIn }, sessionMs, mostMs);
    if (session.value.length > sessionLengthMax) throw claimsTooLong();
    setSessionCookie(context, request, reply, session);
    return describeCaller(context, request, principal, session);
  });
}

function offerRoute(app: App, { auth, publicUrl }: Context): void {
  const schema = {
    tags: ["page"],
    summary: "How people sign in: with a token, or through which issuers",
    response: { 200: SignInOffer },
  };
  app.get("/v1/sign-in", { schema }, async (_request, reply) => {
    reply.header("cache-control", `public, max-age=${offerSeconds}`);
    return {
      authentication: auth.isOn,
      tokens: auth.acceptsTokens,
      publicUrl: publicUrl ?? null,
      issuers: auth.issuersForPeople.flatMap(({ issuer, signIn }) => {
        if (signIn === undefined) return [];
        const { title, client, cliClient, scopes } = signIn;
        const cli = cliClient === undefined ? null : { client: cliClient, scopes: [...scopes] };
        return [{ issuer, title, page: client !== undefined, cli }];
      }),
    };
  });
}

/** The browser names the origin of the page, and `mustBeOwnPage` has checked it. */
function redirectUri({ publicUrl }: Context, { headers }: FastifyRequest): string {
  const origin = headers.origin ?? "";
  if (publicUrl === undefined || origin === publicUrl) return `${origin}${callbackPath}`;
  throw new Problem({
    code: "sign_in_elsewhere",
    status: 409,
    message: `Cannot sign in at ${origin}: the public address of this server is ${publicUrl}`,
    hint: `Open ${publicUrl} and sign in there`,
    facts: { publicUrl },
  });
}

function claimsTooLong(): Problem {
  return new Problem({
    code: "forbidden",
    status: 403,
    message: "Cannot keep the session: the claims that the rules use do not fit into a cookie",
    hint: "Ask an admin of the server for rules that use fewer claims, or for a token",
  });
}
