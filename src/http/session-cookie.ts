/** The cookie of a session, and which calls may use it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../api/problem.ts";
import type { Context } from "./context.ts";
import { hostOf, protocolOf } from "./proxies.ts";

const sessionCookie = "berth_session";

export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  maxAge: number,
): void {
  const secure = protocolOf(request) === "https" ? "; Secure" : "";
  reply.header(
    "set-cookie",
    `${sessionCookie}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`,
  );
}

/** The Authorization header that a session stands for; undefined if there is none. */
export function sessionAuthorization(
  { sessions }: Context,
  request: FastifyRequest,
): string | undefined {
  const cookie = request.headers.cookie;
  const sealed = cookie === undefined ? undefined : cookieValue(cookie);
  const token = sealed === undefined ? undefined : sessions.open(sealed);
  if (token === undefined) return undefined;
  mustBeOwnPage(request);
  return `Bearer ${token}`;
}

function cookieValue(header: string): string | undefined {
  for (const pair of header.split(";")) {
    const [name, value = ""] = pair.trim().split("=", 2);
    if (name === sessionCookie) return value;
  }
  return undefined;
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
  const isOwnOrigin = origin === undefined || isOrigin(origin, hostOf(request));
  const isOwnSite = site === undefined || site === "same-origin" || site === "none";
  const isRead = method === "GET" || method === "HEAD";
  if (isOwnOrigin && isOwnSite && (isRead || origin !== undefined)) return;
  throw new Problem({
    code: "origin_not_allowed",
    status: 403,
    message: "Cannot answer another page with the session of this one",
    hint: "Open the server's own page; programs send a token instead of a cookie",
  });
}

/** Compares host and port; a URL leaves the default port out. */
function isOrigin(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin);
  return page !== null && URL.parse(`${page.protocol}//${host}`)?.host === page.host;
}
