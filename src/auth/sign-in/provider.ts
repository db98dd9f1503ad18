/** The endpoints of an issuer, and a client of it. Shared by the server and `berth login`. */
import type { Configuration, ServerMetadata } from "openid-client";
import { issuerLimits } from "../issuers/limits.ts";
import { isProtectedUrl } from "../protected-url.ts";

export type { ServerMetadata } from "openid-client";
export type OpenIdClient = typeof import("openid-client");

/** Loaded when somebody signs in: most processes never need it. */
export async function loadOpenIdClient(): Promise<OpenIdClient> {
  return import("openid-client");
}

const timeoutSeconds = issuerLimits.fetchMs / 1_000;
/** Everything secret is sent to these. */
const endpoints = [
  "authorization_endpoint",
  "token_endpoint",
  "device_authorization_endpoint",
  "end_session_endpoint",
  "revocation_endpoint",
] as const;

/** Reads the discovery document. Throws if an address in it could be replaced by others. */
export async function discover(issuer: string): Promise<ServerMetadata> {
  const { discovery, allowInsecureRequests } = await loadOpenIdClient();
  if (!isProtectedUrl(issuer)) throw new Error(`${issuer} is not https`);
  const found = await discovery(new URL(issuer), "any", undefined, undefined, {
    timeout: timeoutSeconds,
    // Without TLS an issuer works on loopback only, as `isProtectedUrl` has checked.
    execute: isPlain(issuer) ? [allowInsecureRequests] : [],
  });
  const metadata: ServerMetadata = { ...found.serverMetadata() };
  for (const name of endpoints) {
    const url = metadata[name];
    if (url !== undefined && !isProtectedUrl(url)) throw new Error(`its ${name} is not https`);
  }
  return metadata;
}

/** A client at the issuer. Without a secret it is a public one. */
export async function clientOf(
  metadata: ServerMetadata,
  client: string,
  secret?: string,
): Promise<Configuration> {
  const {
    Configuration: Client,
    ClientSecretBasic,
    ClientSecretPost,
    None,
    allowInsecureRequests,
    clockTolerance,
  } = await loadOpenIdClient();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const withSecret = methods.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
  const configuration = new Client(
    metadata,
    client,
    { [clockTolerance]: issuerLimits.clockToleranceSeconds },
    secret === undefined ? None() : withSecret(secret),
  );
  configuration.timeout = timeoutSeconds;
  if (isPlain(metadata.issuer)) allowInsecureRequests(configuration);
  return configuration;
}

function isPlain(url: string): boolean {
  return URL.parse(url)?.protocol === "http:";
}

/** What went wrong, without anything that the issuer or the user has sent in confidence. */
export function describeTrouble(error: unknown): string {
  if (!(error instanceof Error)) return "an unknown error";
  const { code, error: reason } = error as { code?: unknown; error?: unknown };
  const inner = error.cause instanceof Error ? error.cause.message : undefined;
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") {
    return "its token is not valid now by the clock of this machine, which may be wrong";
  }
  const parts = [error.message, reason, code, error instanceof TypeError ? inner : undefined];
  return parts.filter((part) => typeof part === "string" && part !== "").join(", ");
}

/** Whether the issuer could not be reached, or did not answer as an issuer. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, status, cause } = error as { code?: unknown; status?: unknown; cause?: unknown };
  const answered = Number(status ?? (cause instanceof Response ? cause.status : 0));
  const isNetwork = error instanceof TypeError && error.message === "fetch failed";
  return isNetwork || code === "OAUTH_TIMEOUT" || answered >= 500 || answered === 429;
}
