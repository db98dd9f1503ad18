/** Signs users of the page in with a token, and out. */
import Type from "typebox";
import { SignedOut, Whoami } from "../api/schemas.ts";
import { refuseCredentials } from "../auth/refusals.ts";
import { sessionTokenLengthMax } from "../auth/sessions.ts";
import { authenticate } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { problems } from "./responses.ts";
import { mustBeOwnPage, sessionOf, setSessionCookie } from "./session-cookie.ts";
import { describeCaller } from "./whoami.ts";

const Body = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: sessionTokenLengthMax }) },
  { additionalProperties: false },
);

export function sessionRoutes(app: App, context: Context): void {
  const { auth, sessions } = context;
  const signIn = {
    tags: ["page"],
    summary: "Sign in with a token; the answer sets a cookie that only the server can read",
    body: Body,
    response: { 200: Whoami, ...problems(400, 401, 403) },
  };
  app.post("/v1/session", { schema: signIn }, async (request, reply) => {
    mustBeOwnPage(request);
    const { token } = request.body;
    if (!auth.isOn) throw refuseCredentials("this server has no authentication");
    const principal = await authenticate(context, request, `Bearer ${token}`);
    const session = sessions.start({ token });
    setSessionCookie(context, request, reply, session);
    return describeCaller(context, request, principal, session);
  });
  const signOut = {
    tags: ["page"],
    summary: "Sign out; the answer has the page of the issuer where to sign out too, if it has one",
    response: { 200: SignedOut, ...problems(403) },
  };
  app.delete("/v1/session", { schema: signOut }, async (request, reply) => {
    mustBeOwnPage(request);
    setSessionCookie(context, request, reply, { value: "", leftMs: 0 });
    const session = sessionIfAny(context, request);
    if (session === undefined || !("signedIn" in session)) return { issuer: null };
    const returnTo = `${context.publicUrl ?? request.headers.origin}/`;
    return { issuer: (await context.signIn.signOutUrl(session.signedIn, returnTo)) ?? null };
  });
}

/** Signing out works with any cookie. */
function sessionIfAny(...args: Parameters<typeof sessionOf>): ReturnType<typeof sessionOf> {
  try {
    return sessionOf(...args);
  } catch {
    return undefined;
  }
}
