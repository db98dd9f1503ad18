/**
 * Finds out who calls, from the headers of a call. Without any `auth` in the configuration nobody is
 * asked: callers on this machine may do everything, others everything that does not affect others.
 */
import type { AuthSpec } from "./auth-spec.ts";
import type { IssuerReports } from "./issuers/issuer-keys.ts";
import { IssuerTokens } from "./issuers/issuer-tokens.ts";
import type { Principal } from "./principal.ts";
import { credentialsMissing, refuseCredentials, unknownToken } from "./refusals.ts";
import { StaticTokens } from "./static-tokens.ts";

export class Authenticator {
  #spec: AuthSpec | undefined;
  #tokens = new StaticTokens([]);
  readonly #issuers: IssuerTokens;
  readonly #nowMs: () => number;

  constructor(
    spec: AuthSpec | undefined,
    nowMs: () => number = Date.now,
    reports: IssuerReports = {},
  ) {
    this.#nowMs = nowMs;
    this.#issuers = new IssuerTokens(nowMs, reports);
    this.configure(spec);
  }

  /**
   * Uses a reloaded configuration. A token that is no longer listed stops to work at once. The keys
   * of issuers that did not change are kept.
   */
  configure(spec: AuthSpec | undefined): void {
    this.#spec = spec;
    this.#tokens = new StaticTokens(spec?.tokens ?? []);
    this.#issuers.configure(spec?.issuers ?? []);
  }

  /** False: the configuration has no `auth`, so nobody can prove anything. */
  get isOn(): boolean {
    return this.#spec !== undefined;
  }

  /**
   * Throws, or rejects with, a Problem with status 401, 403 or 503. Returns a promise only for the
   * token of an issuer that is not verified yet. Only call it while authentication is on.
   */
  authenticate(authorization: string | undefined): Principal | Promise<Principal> {
    if (authorization === undefined) {
      const anonymous = this.#spec?.anonymous;
      if (anonymous === undefined) throw credentialsMissing();
      return anonymous;
    }
    const { token, user } = parseAuthorization(authorization);
    // The token of an issuer says itself who the caller is, so the user with it may be anybody.
    const known =
      this.#issuers.recall(token) ??
      this.#tokens.find(token, this.#nowMs(), user) ??
      this.#issuers.find(token);
    if (known !== undefined) return known;
    throw refuseCredentials(unknownToken);
  }
}

interface Credentials {
  readonly token: string;
  /** Only in basic authentication, where the password is the token. */
  readonly user?: string;
}

function parseAuthorization(header: string): Credentials {
  const [, scheme = "", value = ""] = /^(\S+) +(\S+)$/.exec(header) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return { token: value };
    case "basic": {
      const [, user = "", password = ""] =
        /^([^:]*):(.*)$/s.exec(Buffer.from(value, "base64").toString()) ?? [];
      return { token: password, user };
    }
    default:
      throw refuseCredentials("the Authorization header is neither Bearer nor Basic");
  }
}
