/**
 * Where a call comes from if a proxy stands in front of the server. Any client can write the headers
 * of a proxy, so they count only in calls that come from the address of a trusted one.
 */
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP, isIPv4 } from "node:net";
import { TLSSocket } from "node:tls";
import type { FastifyRequest } from "fastify";
import type { ShownCertificate } from "../auth/certificates.ts";
import type { App, Context } from "./context.ts";
import { relayRefused } from "./relay/relay-problems.ts";
import { relayHeader } from "./relay/relay-signature.ts";

/** What a trusted proxy says about the call that it forwards. */
export interface Forwarded {
  /** The address of the caller; undefined if the proxy does not name it. */
  readonly address: string | undefined;
  /** As in the `Host` header that the caller sent. */
  readonly host: string | undefined;
  /** `http` or `https`, as the caller used it. */
  readonly protocol: string | undefined;
  /** The certificate that the caller has shown to another replica; a proxy does not tell it. */
  readonly certificate?: ShownCertificate | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null unless the call comes through a trusted proxy. */
    forwarded: Forwarded | null;
    /** Whether another replica has passed the call on, which has checked its `Host` and `Origin`. */
    relayed: boolean;
    /** The name under which the other server says whether the answer arrived. */
    deliveryId: string | null;
  }
}

/** Addresses and networks in the form `10.0.0.7` or `10.0.0.0/8`. */
export class Proxies {
  readonly #trusted = new BlockList();

  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = "", bits] = network.split("/");
      const family = isIPv4(address) ? "ipv4" : "ipv6";
      if (bits === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(bits), family);
    }
  }

  /**
   * Null if the peer of the connection is no trusted proxy: then its headers do not count. `host` is
   * the one that the proxy itself has asked for.
   */
  read(peer: string, headers: IncomingHttpHeaders, host: string | undefined): Forwarded | null {
    if (!this.#trusts(peer)) return null;
    return {
      address: this.#callerIn(headers["x-forwarded-for"]),
      host: lastOf(headers["x-forwarded-host"]) ?? host,
      protocol: lastOf(headers["x-forwarded-proto"])?.toLowerCase(),
    };
  }

  /**
   * Each proxy adds the address of its own peer at the end. So the list is read from its end, and
   * the first address that is no trusted proxy is the caller's. What stands before it was written
   * by the caller.
   */
  #callerIn(header: string | string[] | undefined): string | undefined {
    const addresses = listOf(header).map(withoutPort);
    const caller = addresses.findLast((address) => !this.#trusts(address)) ?? addresses[0];
    return caller === undefined || isIP(caller) === 0 ? undefined : caller;
  }

  #trusts(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#trusted.check(address, family === 4 ? "ipv4" : "ipv6");
  }
}

function listOf(header: string | string[] | undefined): readonly string[] {
  const text = Array.isArray(header) ? header.join(",") : header;
  return (text ?? "").split(",").flatMap((part) => part.trim() || []);
}

/** The nearest proxy has written the last one. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return listOf(header).at(-1);
}

/** Some proxies write `203.0.113.7:4711` and `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const [, bracketed, ipv4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return bracketed ?? ipv4 ?? text;
}

/** Must be the first hook: all others read where the call comes from. */
export function readForwarded(app: App, { proxies, peers }: Context): void {
  app.decorateRequest("forwarded", null);
  app.decorateRequest("relayed", false);
  app.decorateRequest("deliveryId", null);
  if (proxies === undefined && peers === undefined) return;
  app.addHook("onRequest", (request, _reply, done) => {
    const relay = request.headers[relayHeader];
    if (peers !== undefined && typeof relay === "string") {
      const caller = peers.signature.verify(request, relay);
      if (caller === undefined) return done(relayRefused());
      if (caller.delivery !== undefined) peers.deliveries.word(caller.delivery);
      const { address, host, protocol, certificate, deliveryId } = caller;
      request.forwarded = { address, host, protocol, certificate };
      request.relayed = true;
      request.deliveryId = deliveryId ?? null;
    } else if (proxies !== undefined) {
      const peer = request.socket.remoteAddress ?? "";
      request.forwarded = proxies.read(peer, request.headers, hostAskedFor(request));
    }
    done();
  });
}

/** The address that the call comes from. A proxy that names no caller is not the caller. */
export function callerAddress({ forwarded, socket }: FastifyRequest): string {
  if (forwarded === null) return socket.remoteAddress ?? "";
  return forwarded.address ?? "an unknown address behind a proxy";
}

/** Undefined if nobody knows: a proxy that adds TLS does not have to say so. */
export function protocolOf({ forwarded, socket }: FastifyRequest): string | undefined {
  return forwarded?.protocol ?? (socket instanceof TLSSocket ? "https" : undefined);
}

/** The name that the caller used for the server. */
export function hostOf(request: FastifyRequest): string | undefined {
  return request.forwarded === null ? hostAskedFor(request) : request.forwarded.host;
}

/**
 * If the target of a call is a whole address, its host counts and `Host` does not (RFC 9112, 3.2.2).
 * An address without a host gives "", which is nobody's name.
 */
function hostAskedFor({ raw, headers }: FastifyRequest): string | undefined {
  const target = raw.url ?? "/";
  if (target.startsWith("/") || target === "*") return headers.host;
  return URL.parse(target)?.host ?? "";
}
