/**
 * Finds out who calls, from the headers of a call and the certificate of its connection. Without any `auth` in the configuration nobody is
 * asked: callers on this machine may do everything, others everything that does not affect others.
 */
import type { AuthSpec } from "./auth-spec.ts";
import { principalOfCertificate, type ShownCertificate } from "./certificates.ts";
import { FloodLimits } from "./flood-limits.ts";
import type { IssuerSpec } from "./issuer-spec.ts";
import type { IssuerReports } from "./issuers/issuer-keys.ts";
import { IssuerTokens } from "./issuers/issuer-tokens.ts";
import { principalFrom } from "./issuers/rules.ts";
import type { Principal } from "./principal.ts";
import { RecentCallers } from "./recent-callers.ts";
import {
  certificateRefused,
  credentialsMissing,
  refuseCredentials,
  unknownToken,
} from "./refusals.ts";
import type { SignedIn } from "./sessions.ts";
import { StaticTokens } from "./static-tokens.ts";

export class Authenticator {
  readonly limits = new FloodLimits();
  #spec: AuthSpec | undefined;
  #tokens = new StaticTokens([]);
  readonly #issuers: IssuerTokens;
  readonly #recentCallers = new RecentCallers();
  readonly #nowMs: () => number;
  #revision = 0;

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
    this.limits.configure(spec?.limits);
    this.#tokens = new StaticTokens(spec?.tokens ?? []);
    this.#issuers.configure(spec?.issuers ?? []);
    this.#recentCallers.forgetAll();
    this.#revision += 1;
  }

  /** Grows with every `configure`: what somebody was allowed before must be checked again. */
  get revision(): number {
    return this.#revision;
  }

  /** The tokens of the configuration that end before this time, or have ended. */
  tokensUntil(atMs: number): ReturnType<StaticTokens["until"]> {
    return this.#tokens.until(atMs);
  }

  /** False: the configuration has no `auth`, so nobody can prove anything. */
  get isOn(): boolean {
    return this.#spec !== undefined;
  }

  /**
   * Throws, or rejects with, a Problem with status 401, 403 or 503. Returns a promise only for the
   * token of an issuer that is not verified yet. Only call it while authentication is on.
   * `beforeVerifying` is called, and may throw, before a signature is checked: that costs much.
   */
  authenticate(
    authorization: string,
    beforeVerifying?: () => void,
  ): Principal | Promise<Principal> {
    const nowMs = this.#nowMs();
    const recent = this.#recentCallers.recall(authorization, nowMs);
    if (recent !== undefined) return recent;
    const { token, user } = parseAuthorization(authorization);
    // The token of an issuer says itself who the caller is, so the user with it may be anybody.
    const known = this.#issuers.recall(token) ?? this.#tokens.find(token, nowMs, user);
    if (known !== undefined) {
      this.#recentCallers.remember(authorization, known, nowMs);
      return known.principal;
    }
    beforeVerifying?.();
    const issued = this.#issuers.find(token);
    if (issued !== undefined) return issued;
    throw refuseCredentials(unknownToken);
  }

  /** The issuers through which people can sign in, to the page or with `berth login`. */
  get issuersForPeople(): readonly IssuerSpec[] {
    return (this.#spec?.issuers ?? []).filter(({ signIn }) => signIn !== undefined);
  }

  /** False: nobody has a token that the form of the page would accept. */
  get acceptsTokens(): boolean {
    const { tokens = [], issuers = [] } = this.#spec ?? {};
    return tokens.length > 0 || issuers.length > this.issuersForPeople.length;
  }

  /** Who signed in to the page. The rules of now count, and not those of the sign-in. */
  principalOfSession({ issuer, client, claims }: SignedIn): Principal {
    const spec = this.issuersForPeople.find((one) => {
      return one.issuer === issuer && one.signIn?.client === client;
    });
    if (spec === undefined) throw refuseCredentials(`people no longer sign in through ${issuer}`);
    return principalFrom(spec, claims);
  }

  /** For calls without a token. A certificate that is not accepted counts as no credentials. */
  authenticateByCertificate(certificate: ShownCertificate | undefined): Principal {
    const rules = this.#spec?.certificates ?? [];
    const anonymous = this.#spec?.anonymous;
    if (certificate === undefined || rules.length === 0) {
      if (anonymous === undefined) throw credentialsMissing();
      return anonymous;
    }
    const refusal = refusalOf(certificate, this.#nowMs());
    const found = "subject" in certificate && principalOfCertificate(rules, certificate);
    if (found && refusal === undefined) return found;
    if (anonymous === undefined) throw certificateRefused(refusal ?? noCertificateRule);
    return anonymous;
  }
}

const noCertificateRule = "no rule of auth.certificates matches it";

/** A connection may be open for longer than its certificate is valid. */
function refusalOf(certificate: ShownCertificate, nowMs: number): string | undefined {
  if ("refusal" in certificate) return certificate.refusal;
  return certificate.expiresAtMs <= nowMs ? "it has expired" : undefined;
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
      const written = /^([^:]*):(.*)$/s.exec(Buffer.from(value, "base64").toString());
      if (written === null) {
        throw refuseCredentials("the Basic credentials are not NAME:TOKEN in Base64");
      }
      const [, user = "", password = ""] = written;
      return { token: password, user };
    }
    default:
      throw refuseCredentials("the Authorization header is neither Bearer nor Basic");
  }
}
