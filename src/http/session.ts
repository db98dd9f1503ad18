/** Signs users of the page in and out. */
import Type from "typebox";
import { Whoami } from "../api/schemas.ts";
import { refuseCredentials } from "../auth/refusals.ts";
import { sessionMs, sessionTokenLengthMax } from "../auth/sessions.ts";
import type { App, Context } from "./context.ts";
import { NoContent, problems } from "./responses.ts";
import { mustBeOwnPage, setSessionCookie } from "./session-cookie.ts";
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
    const principal = await auth.authenticate(`Bearer ${token}`);
    setSessionCookie(request, reply, sessions.seal(token), sessionMs / 1_000);
    return describeCaller(context, request, principal);
  });
  const signOut = {
    tags: ["page"],
    summary: "Sign out",
    response: { 204: NoContent, ...problems(403) },
  };
  app.delete("/v1/session", { schema: signOut }, async (request, reply) => {
    mustBeOwnPage(request);
    setSessionCookie(request, reply, "", 0);
    reply.code(204);
  });
}
