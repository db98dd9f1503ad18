/** Verifies service account tokens by asking the API server of the cluster that has signed them. */
import type { ApiServer } from "../../kubernetes/api-server.ts";
import type { IssuerSpec } from "../issuer-spec.ts";
import { issuerUnavailable, refuseCredentials } from "../refusals.ts";
import { type Claims, isClaims } from "./claims.ts";
import type { IssuerReports } from "./issuer-keys.ts";
import { issuerLimits } from "./limits.ts";
import { claimsOf } from "./unverified.ts";
import type { Verdict } from "./verify.ts";

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: { readonly username?: string };
  };
}

const path = ["apis", "authentication.k8s.io", "v1", "tokenreviews"];

export class TokenReviews {
  readonly #spec: IssuerSpec;
  readonly #nowMs: () => number;
  readonly #reports: IssuerReports;
  #api: Promise<ApiServer> | undefined;
  #openCount = 0;
  #isUp: boolean | undefined;

  constructor(spec: IssuerSpec, nowMs: () => number, reports: IssuerReports) {
    this.#spec = spec;
    this.#nowMs = nowMs;
    this.#reports = reports;
  }

  async verify(token: string): Promise<Verdict> {
    const { issuer, audience } = this.#spec;
    const claims = claimsOf(token) ?? {};
    // The API server would refuse these too, so there is no need to ask it.
    const untilMs = Number(claims["exp"]) * 1_000;
    if (!(untilMs > this.#nowMs()) || ![claims["aud"]].flat().includes(audience)) {
      return this.#refused();
    }
    // A caller with many forged tokens must not overload the API server.
    if (this.#openCount >= issuerLimits.reviewsMax) {
      return { problem: issuerUnavailable(issuer), signed: false };
    }
    let review: TokenReview;
    this.#openCount += 1;
    try {
      review = await this.#ask(token);
    } catch (error) {
      this.#setUp(false, error);
      return { problem: issuerUnavailable(issuer), signed: false };
    } finally {
      this.#openCount -= 1;
    }
    this.#setUp(true);
    if (!isAccepted(review, claims, audience)) return this.#refused();
    const reviewedUntilMs = this.#nowMs() + issuerLimits.reviewMs;
    return { claims, untilMs: Math.min(untilMs, reviewedUntilMs), isCurrent: () => true };
  }

  #refused(): Verdict {
    const { issuer, audience } = this.#spec;
    const state = `the cluster does not accept the token of ${issuer} for the audience ${audience}`;
    return { problem: refuseCredentials(state), signed: false };
  }

  async #ask(token: string): Promise<TokenReview> {
    this.#api ??= this.#connect();
    try {
      const api = await this.#api;
      return await api.call<TokenReview>({
        method: "POST",
        path,
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          spec: { token, audiences: [this.#spec.audience] },
        },
        answerMs: issuerLimits.fetchMs,
      });
    } catch (error) {
      this.#api = undefined; // The kubeconfig may have changed since it was read.
      throw error;
    }
  }

  async #connect(): Promise<ApiServer> {
    const { ApiServer: api } = await import("../../kubernetes/api-server.ts");
    const { proof } = this.#spec;
    return api.connect(proof.type === "token-review" ? proof : {});
  }

  #setUp(isUp: boolean, why?: unknown): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    if (isUp) this.#reports.up?.(this.#spec.issuer);
    else this.#reports.down?.(this.#spec.issuer, why);
  }
}

/**
 * An API server without support for audiences returns none, and accepts tokens for other services.
 * The user must be the claim `sub`: this shows that the API server has verified these claims, which
 * the rules read.
 */
function isAccepted({ status }: TokenReview, claims: Claims, audience: string): boolean {
  if (!isClaims(status) || status.authenticated !== true) return false;
  return status.audiences?.includes(audience) === true && status.user?.username === claims["sub"];
}
