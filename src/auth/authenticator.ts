/**
 * Finds out who calls, from the headers of a call. Without any `auth` in the configuration nobody is
 * asked: callers on this machine may do everything, others everything that does not affect others.
 */
import type { AuthSpec } from "./auth-spec.ts";
import type { Principal } from "./principal.ts";
import { credentialsMissing, refuseCredentials } from "./refusals.ts";
import { StaticTokens } from "./static-tokens.ts";

export class Authenticator {
  #spec: AuthSpec | undefined;
  #tokens = new StaticTokens([]);
  readonly #nowMs: () => number;

  constructor(spec: AuthSpec | undefined, nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
    this.configure(spec);
  }

  /** Uses a reloaded configuration. A token that is no longer listed stops to work at once. */
  configure(spec: AuthSpec | undefined): void {
    this.#spec = spec;
    this.#tokens = new StaticTokens(spec?.tokens ?? []);
  }

  /** False: the configuration has no `auth`, so nobody can prove anything. */
  get isOn(): boolean {
    return this.#spec !== undefined;
  }

  /** Throws a Problem with status 401 or 403. Only call it while authentication is on. */
  authenticate(authorization: string | undefined): Principal | Promise<Principal> {
    if (authorization === undefined) {
      const anonymous = this.#spec?.anonymous;
      if (anonymous === undefined) throw credentialsMissing();
      return anonymous;
    }
    const { token, user } = parseAuthorization(authorization);
    const known = this.#tokens.find(token, this.#nowMs(), user);
    if (known !== undefined) return known;
    throw refuseCredentials(unknownToken);
  }
}

const unknownToken = "this server does not know them";

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
