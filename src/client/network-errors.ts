/** What the errors of `fetch` mean for a user. */
import { BerthUnreachable, type CertificateProblem } from "./errors.ts";

const plainPort = "the port does not speak TLS; use http:// instead of https://";

/** Codes of OpenSSL and Node for a certificate that a client must not accept. */
const certificateProblems: Readonly<Record<string, CertificateProblem>> = {
  CERT_UNTRUSTED: "untrusted",
  DEPTH_ZERO_SELF_SIGNED_CERT: "untrusted",
  INVALID_CA: "untrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "untrusted",
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "not-yet-valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "wrong-name",
};

const textByProblem: Readonly<Partial<Record<CertificateProblem, string>>> = {
  untrusted: "this machine does not trust the authority that signed its certificate",
  expired: "its certificate has expired",
  "not-yet-valid": "its certificate is not valid yet",
};

const textByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "DNS lookup failed",
  ETIMEDOUT: "connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "connection timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ERR_SSL_WRONG_VERSION_NUMBER: plainPort,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: plainPort,
  EPROTO: plainPort,
};

/** Codes of a connection that was there. With all others nothing was sent. */
const codesAfterSending: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "ETIMEDOUT",
]);

/** `fetch` throws "fetch failed"; the reason is in its cause, or in the first of several causes. */
export function describeNetworkError(error: unknown): string {
  const { code, reason } = reasonOf(error);
  const problem = certificateProblems[code];
  if (problem === "wrong-name") return describeWrongName(reason);
  return (problem && textByProblem[problem]) ?? textByCode[code] ?? reason.message;
}

/** Why the server cannot be reached, from an error of `fetch`. */
export function unreachable(url: string, error: unknown): BerthUnreachable {
  const { code } = reasonOf(error);
  const certificate = certificateProblems[code];
  const wasSent = codesAfterSending.has(code);
  return new BerthUnreachable(url, describeNetworkError(error), error, { certificate, wasSent });
}

interface Reason {
  /** Empty if the error has none that we know. */
  readonly code: string;
  readonly reason: Error;
}

function reasonOf(error: unknown): Reason {
  if (!(error instanceof Error)) return { code: "", reason: new Error("the call failed") };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (textByCode[code] !== undefined || certificateProblems[code] !== undefined) {
    return { code, reason: error };
  }
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error.cause instanceof Error ? reasonOf(error.cause) : { code: "", reason: error };
}

/** Node names the host that was called and the names in the certificate. */
function describeWrongName(error: Error): string {
  const { host, cert } = error as { host?: unknown; cert?: { subjectaltname?: unknown } };
  const names = typeof cert?.subjectaltname === "string" ? cert.subjectaltname : "another name";
  return `its certificate is for ${names}, not for ${typeof host === "string" ? host : "this one"}`;
}
