/** The cookie of a session, and which calls may use it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../api/problem.ts";
import { refuseCredentials } from "../auth/refusals.ts";
import type { SealedSession, Session } from "../auth/sessions.ts";
import type { Context } from "./context.ts";
import { hostOf, protocolOf } from "./proxies.ts";

/** With TLS, pages of other hosts below the same domain cannot set a cookie of this name. */
const cookieName = (isSecure: boolean) => (isSecure ? "__Host-berth_session" : "berth_session");

type Site = Pick<Context, "publicUrl">;

export function setSessionCookie(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  { value, leftMs }: Pick<SealedSession, "value" | "leftMs">,
): void {
  const isSecure = usesTls(site, request);
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(leftMs / 1_000)}`;
  const secure = isSecure ? "; Secure" : "";
  reply.header("set-cookie", `${cookieName(isSecure)}=${value}; ${attributes}${secure}`);
}

/** Lets a session that is in use last longer. Its user may be anybody whose call was answered. */
export function renewSession(context: Context, request: FastifyRequest, reply: FastifyReply): void {
  const { cookie, authorization } = request.headers;
  if (cookie === undefined || authorization !== undefined || !context.auth.isOn) return;
  const session = sessionOf(context, request);
  const renewed = session && context.sessions.renew(session);
  if (renewed !== undefined) setSessionCookie(context, request, reply, renewed);
}

/** A proxy that adds TLS does not have to say so, if the public address does. */
function usesTls({ publicUrl }: Site, request: FastifyRequest): boolean {
  const protocol = protocolOf(request);
  if (protocol !== undefined || publicUrl === undefined) return protocol === "https";
  const { protocol: scheme, host } = new URL(publicUrl);
  return scheme === "https:" && host === hostOf(request);
}

/** The session that the call has; undefined if it has none. Throws if another page asks for it. */
export function sessionOf(context: Context, request: FastifyRequest): Session | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const [sealed, ...others] = valuesIn(cookie, cookieName(usesTls(context, request)));
  const session = sealed === undefined ? undefined : context.sessions.open(sealed);
  if (session === undefined && others.length === 0) return undefined;
  mustBeOwnPage(request);
  // A page of another port can add a cookie, so nobody knows which one the user has chosen.
  if (others.length > 0) throw refuseCredentials(twoSessions);
  return session;
}

const twoSessions =
  "the browser sends two sessions, and another page of this host has set one of them. Delete the cookies of this host";

function valuesIn(header: string, wanted: string): readonly string[] {
  return header.split(";").flatMap((pair) => {
    const [name, value = ""] = pair.trim().split("=", 2);
    return name === wanted ? [value] : [];
  });
}

/**
 * A browser sends cookies also with calls of other pages on the same host, whatever their port. So a
 * call with a cookie must come from the server's own page: browsers send `Sec-Fetch-Site`, and
 * `Origin` with everything that may change something.
 */
export function mustBeOwnPage(request: FastifyRequest): void {
  const { headers, method } = request;
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  const isOwn = origin === undefined || isOwnOrigin(request, origin);
  const isOwnSite = site === undefined || site === "same-origin" || site === "none";
  const isRead = method === "GET" || method === "HEAD";
  if (isOwn && isOwnSite && (isRead || origin !== undefined)) return;
  throw new Problem({
    code: "origin_not_allowed",
    status: 403,
    message: "Cannot answer another page with the session of this one",
    hint: "Open the server's own page; programs send a token instead of a cookie",
  });
}

/** Compares host and port; a URL leaves the default port out. Others can change a page without TLS. */
function isOwnOrigin(request: FastifyRequest, origin: string): boolean {
  const page = URL.parse(origin);
  if (page === null || (protocolOf(request) === "https" && page.protocol !== "https:"))
    return false;
  return URL.parse(`${page.protocol}//${hostOf(request)}`)?.host === page.host;
}
