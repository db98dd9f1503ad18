import { TLSSocket } from "node:tls";
import type { FastifyRequest } from "fastify";
import type { ShownCertificate } from "../auth/certificates.ts";
import { hostOf } from "./proxies.ts";

/** A connection shows one certificate for all its calls. */
const byConnection = new WeakMap<TLSSocket, ShownCertificate | undefined>();

/**
 * The certificate that the caller has shown; undefined if there is none. Behind a proxy it is the
 * proxy's and says nothing about the caller. Another replica tells which one it was shown.
 */
export function certificateOf(request: FastifyRequest): ShownCertificate | undefined {
  const { socket, forwarded } = request;
  if (isOtherPage(request)) return undefined;
  if (forwarded !== null) return forwarded.certificate;
  if (!(socket instanceof TLSSocket)) return undefined;
  if (!byConnection.has(socket)) byConnection.set(socket, readCertificate(socket));
  return byConnection.get(socket);
}

/** A browser shows the certificate of its user for every page, also for those of other servers. */
function isOtherPage(request: FastifyRequest): boolean {
  const { origin } = request.headers;
  const own = `https://${hostOf(request)}`;
  return origin !== undefined && (!URL.canParse(own) || origin !== new URL(own).origin);
}

function readCertificate(socket: TLSSocket): ShownCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  if (!socket.authorized) return { refusal: describeRefusal(String(socket.authorizationError)) };
  const { subject } = certificate.toLegacyObject();
  return {
    subject: Object.fromEntries(
      Object.entries(subject as Readonly<Record<string, string | string[]>>).map(
        ([attribute, values]) => [attribute, [values].flat()],
      ),
    ),
    san: readAltNames(certificate.subjectAltName ?? ""),
    expiresAtMs: Date.parse(certificate.validTo),
  };
}

const textByError: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "it has expired",
  CERT_NOT_YET_VALID: "it is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "no authority has signed it",
  INVALID_PURPOSE: "it is not for clients",
};

function describeRefusal(code: string): string {
  return textByError[code] ?? "no authority that the server trusts has signed it";
}

/**
 * Node writes `DNS:a.example, URI:"spiffe://a/b\\u002c c"`: a value with unusual characters is a
 * JSON string, so that no value can look like two.
 */
export function readAltNames(text: string): readonly string[] {
  const entries = text.matchAll(/(?:^|, )([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?=, |$)/g);
  return Array.from(entries, ([, type = "", value = ""]) => {
    const plain: string = value.startsWith('"') ? JSON.parse(value) : value;
    return `${type === "IP Address" ? "IP" : type}:${plain}`;
  });
}
