/**
 * Keeps web pages out. Every browser on the network can send calls here for the page that it shows,
 * and a page's own name can resolve to the address of this server (DNS rebinding), so that the
 * browser also shows the answers to the page. Other clients choose their headers freely; for them
 * the checks only find a wrong address.
 */
import { hostname } from "node:os";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hostnameOfHeader, hostnameOfUrl, isIpAddress, isLoopbackName } from "../api/loopback.ts";
import { Problem } from "../api/problem.ts";
import type { App } from "./context.ts";
import { sendProblem } from "./errors.ts";
import { hostOf, protocolOf } from "./proxies.ts";

/** The names beyond loopback under which clients may call the server. */
export interface AllowedCallers {
  /** The hosts that the server listens on, as `--listen` has them. */
  readonly listens: readonly string[];
  /** Further names, as `--allow-host` has them. */
  readonly hosts: readonly string[];
}

/** Hosts that stand for all addresses of the machine. */
const wildcards: readonly string[] = ["0.0.0.0", "::"];

/** Checks `Host`, `Origin` and `Sec-Fetch-Site` of every call, before any route. */
export function checkCallers(app: App, allowed: AllowedCallers): void {
  const names = new AllowedNames(allowed);
  app.addHook("onRequest", (request, reply, done) => {
    const refusal = request.relayed ? undefined : refusalOf(request, names);
    if (refusal === undefined) done();
    else sendProblem(closing(reply), refusal);
  });
}

/** The body of a refused call is not read, so the connection cannot be used again. */
function closing(reply: FastifyReply): FastifyReply {
  return reply.header("connection", "close");
}

function refusalOf(request: FastifyRequest, names: AllowedNames): Problem | undefined {
  const { headers, method, raw } = request;
  // Node keeps the first of two; a proxy in front may have checked the other one.
  if (hasTwoHosts(raw.rawHeaders)) return twoHosts();
  const { origin } = headers;
  const host = hostOf(request);
  // HTTP/1.0 has no Host, and no browser speaks HTTP/1.0.
  if (host !== undefined && !names.allowHost(host)) return wrongHost(host);
  if (origin !== undefined) {
    const isAllowed = names.allowOrigin(origin, host, protocolOf(request));
    return isAllowed ? undefined : wrongOrigin(`the page at ${origin}`);
  }
  // A page can load something without an Origin, as an image. It may only link here.
  const isCrossSite = headers["sec-fetch-site"] === "cross-site";
  const isLink = headers["sec-fetch-mode"] === "navigate" && method === "GET";
  return isCrossSite && !isLink ? wrongOrigin("a page of another site") : undefined;
}

class AllowedNames {
  readonly #names: ReadonlySet<string>;
  /** The server listens on all addresses, and any of them may be used. */
  readonly #anyIpAddress: boolean;
  /** Most calls have the same header, so the last one is not parsed again. */
  #lastHost = "localhost";

  constructor({ listens, hosts }: AllowedCallers) {
    this.#anyIpAddress = listens.some((host) => wildcards.includes(host));
    const own = this.#anyIpAddress ? [hostname()] : [];
    const names = [...listens, ...hosts, ...own].map((name) => {
      return hostnameOfHeader(name.includes(":") ? `[${name}]` : name) ?? [];
    });
    this.#names = new Set(names.flat());
  }

  allowHost(header: string): boolean {
    if (header === this.#lastHost) return true;
    const name = hostnameOfHeader(header);
    if (name === undefined || !this.#isAllowedHost(name)) return false;
    this.#lastHost = header;
    return true;
  }

  #isAllowedHost(name: string): boolean {
    if (isLoopbackName(name) || this.#names.has(name)) return true;
    // A page under an address was loaded from there: DNS rebinding needs a name.
    return this.#anyIpAddress && isIpAddress(name);
  }

  /** A page of this server may call it, and so may pages of this machine. */
  allowOrigin(origin: string, host: string | undefined, protocol: string | undefined): boolean {
    const name = hostnameOfUrl(origin);
    if (name === undefined) return false;
    if (isLoopbackName(name) || this.#names.has(name)) return true;
    const page = new URL(origin);
    // Anyone on the network can change a page that was loaded without TLS.
    if (protocol === "https" && page.protocol !== "https:") return false;
    const own = `${page.protocol}//${host}`;
    return URL.canParse(own) && new URL(own).host === page.host;
  }
}

/** Names and values alternate in `rawHeaders`. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1;
}

function twoHosts(): Problem {
  return new Problem({
    code: "invalid_request",
    status: 400,
    message: "Cannot answer: the call has more than one Host header",
    hint: "Send one Host header, with the name of this server",
  });
}

function wrongHost(host: string): Problem {
  return new Problem({
    code: "host_not_allowed",
    status: 421,
    message: `Cannot answer as ${shown(host)}: this server is not known by that name`,
    hint: "Use the address that it listens on, or start the server with --allow-host NAME",
  });
}

function wrongOrigin(from: string): Problem {
  return new Problem({
    code: "origin_not_allowed",
    status: 403,
    message: `Cannot answer ${shown(from)}: only the server's own page may call it`,
    hint: "Open the server's own page, or start the server with --allow-host NAME of that page",
  });
}

function shown(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
