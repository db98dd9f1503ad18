/** Verifies tokens that an issuer has signed, and caches the result by hash until they expire. */
import { hash } from "node:crypto";
import type { IssuerSpec } from "../issuer-spec.ts";
import type { Principal } from "../principal.ts";
import type { Proven } from "../recent-callers.ts";
import { refuseCredentials, unknownToken } from "../refusals.ts";
import { IssuerKeys, type IssuerReports } from "./issuer-keys.ts";
import { issuerLimits } from "./limits.ts";
import { principalFrom } from "./rules.ts";
import { setBounded } from "./set-bounded.ts";
import { TokenReviews } from "./token-review.ts";
import { claimsOf } from "./unverified.ts";
import { type Verdict, verifyByKeys } from "./verify.ts";

interface Issuer {
  readonly spec: IssuerSpec;
  readonly verifier: IssuerKeys | TokenReviews;
}

/** The results under one configuration. */
interface Memory {
  readonly verified: Map<string, Proven>;
  /** Calls with the same token wait for one verification. */
  readonly running: Map<string, Promise<Principal>>;
}

export class IssuerTokens {
  readonly #nowMs: () => number;
  readonly #reports: IssuerReports;
  #issuers: readonly Issuer[] = [];
  #memory: Memory = emptyMemory();

  constructor(nowMs: () => number, reports: IssuerReports = {}) {
    this.#nowMs = nowMs;
    this.#reports = reports;
  }

  /** Keeps the keys of issuers that are verified as before, and forgets every verified token. */
  configure(specs: readonly IssuerSpec[]): void {
    const known = new Map(this.#issuers.map(({ spec, verifier }) => [keyOf(spec), verifier]));
    this.#memory = emptyMemory();
    this.#issuers = specs.map((spec) => {
      return { spec, verifier: known.get(keyOf(spec)) ?? this.#makeVerifier(spec) };
    });
  }

  /** Returns the caller if the token is cached, as it is for nearly all calls. */
  recall(token: string): Proven | undefined {
    // The header of a signed token begins with {" in base64.
    if (this.#issuers.length === 0 || !token.startsWith("eyJ")) return undefined;
    const known = this.#memory.verified.get(keyOfToken(token));
    const isValid = known !== undefined && this.#nowMs() < known.untilMs && known.isCurrent();
    return isValid ? known : undefined;
  }

  /** Verifies a token. Returns undefined if no issuer of this name is known. Throws a Problem. */
  find(token: string): Promise<Principal> | undefined {
    if (this.#issuers.length === 0) return undefined;
    if (token.length > issuerLimits.tokenLengthMax) throw refuseCredentials(tooLong);
    const key = keyOfToken(token);
    const running = this.#memory.running.get(key);
    if (running !== undefined) return running;
    const named = claimsOf(token)?.["iss"];
    const issuers = this.#issuers.filter(({ spec }) => spec.issuer === named);
    return issuers.length === 0 ? undefined : this.#start(key, token, issuers);
  }

  #start(key: string, token: string, issuers: readonly Issuer[]): Promise<Principal> {
    // A reload replaces these maps, so a result of the old rules never gets into the new ones.
    const { verified, running } = this.#memory;
    const verifying = this.#verify(token, issuers)
      .then(({ spec, verdict }) => {
        const principal = principalFrom(spec, verdict.claims);
        const { untilMs, isCurrent } = verdict;
        setBounded(verified, key, { principal, untilMs, isCurrent }, issuerLimits.verifiedMax);
        return principal;
      })
      .finally(() => running.delete(key));
    running.set(key, verifying);
    return verifying;
  }

  /** Two clusters may use the same name for their issuer; each has its own keys. */
  async #verify(token: string, issuers: readonly Issuer[]) {
    let refusal: Exclude<Verdict, { claims: unknown }> | undefined;
    for (const { spec, verifier } of issuers) {
      const verdict =
        verifier instanceof TokenReviews
          ? await verifier.verify(token)
          : await verifyByKeys(spec, verifier, token, this.#nowMs());
      if ("claims" in verdict) return { spec, verdict };
      if (refusal === undefined || verdict.signed || verdict.problem.status === 503) {
        refusal = verdict;
      }
    }
    throw refusal?.problem ?? refuseCredentials(unknownToken);
  }

  #makeVerifier(spec: IssuerSpec): IssuerKeys | TokenReviews {
    if (spec.proof.type === "token-review") {
      return new TokenReviews(spec, this.#nowMs, this.#reports);
    }
    const keys = new IssuerKeys(spec, this.#nowMs, this.#reports);
    // The first caller then need not wait for the keys, and the log shows at once what is wrong.
    void keys.refresh();
    return keys;
  }
}

const tooLong = `the token has more than ${issuerLimits.tokenLengthMax} characters`;

function keyOfToken(token: string): string {
  return hash("sha256", token, "base64");
}

function emptyMemory(): Memory {
  return { verified: new Map(), running: new Map() };
}

/** Two specs with the same text can share a verifier. Only TokenReviews depend on the audience. */
function keyOf({ issuer, audience, proof }: IssuerSpec): string {
  return JSON.stringify([issuer, proof, proof.type === "token-review" ? audience : ""]);
}
