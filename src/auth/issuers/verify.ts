/** Verifies a token with the keys of its issuer. Nothing of a refused token is in a message. */
import type { JWTVerifyOptions, JWTVerifyResult } from "jose";
import type { Problem } from "../../api/problem.ts";
import { audiencesOf, type IssuerSpec } from "../issuer-spec.ts";
import { issuerUnavailable, refuseCredentials } from "../refusals.ts";
import type { Claims } from "./claims.ts";
import type { IssuerKeys, KeySet } from "./issuer-keys.ts";
import { issuerLimits } from "./limits.ts";

type Jose = typeof import("jose");

export type Verdict =
  | {
      readonly claims: Claims;
      /** From then on the token must be verified again. */
      readonly untilMs: number;
      /** False as soon as the token must be verified again for another reason. */
      readonly isCurrent: () => boolean;
    }
  /** `signed`: the issuer has signed it, but it is not valid now or not here. */
  | { readonly problem: Problem; readonly signed: boolean };

/** No symmetric algorithms: with these, anyone could sign with the public key of the issuer. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

export async function verifyByKeys(
  spec: IssuerSpec,
  keys: IssuerKeys,
  token: string,
  nowMs: number,
): Promise<Verdict> {
  const jose = await import("jose");
  const known = await keys.load();
  if (known === undefined) return { problem: issuerUnavailable(spec.issuer), signed: false };
  const first = await verifyWith(jose, { spec, token, nowMs, known, keys });
  if (!("isUnknownKey" in first)) return first;
  await keys.refresh();
  const renewed = await keys.load();
  if (renewed === undefined || renewed === known) {
    // While the issuer is down, the server cannot tell a new key from a forged one.
    return keys.isUp ? first : { problem: issuerUnavailable(spec.issuer), signed: false };
  }
  return verifyWith(jose, { spec, token, nowMs, known: renewed, keys });
}

interface Attempt {
  readonly spec: IssuerSpec;
  readonly token: string;
  readonly nowMs: number;
  readonly keys: IssuerKeys;
  readonly known: KeySet;
}

type Tried = Verdict | (Verdict & { readonly isUnknownKey: true });

async function verifyWith(jose: Jose, attempt: Attempt): Promise<Tried> {
  const { spec, token, nowMs, known, keys } = attempt;
  // `iat` is no bound: a server whose clock is minutes behind still knows its people.
  const options: JWTVerifyOptions = {
    algorithms,
    issuer: spec.issuer,
    audience: [...audiencesOf(spec)],
    requiredClaims: ["exp"],
    clockTolerance: issuerLimits.clockToleranceSeconds,
    currentDate: new Date(nowMs),
  };
  try {
    const { payload } = await verifySignature(jose, token, known, options);
    const untilMs = Number(payload.exp) * 1_000;
    return { claims: payload, untilMs, isCurrent: () => keys.current === known };
  } catch (error) {
    const { JWTExpired, JWTClaimValidationFailed, JWKSNoMatchingKey } = jose.errors;
    const problem = refuseCredentials(reasonOf(jose, error, spec, nowMs));
    if (error instanceof JWKSNoMatchingKey) return { problem, signed: false, isUnknownKey: true };
    const signed = error instanceof JWTExpired || error instanceof JWTClaimValidationFailed;
    return { problem, signed };
  }
}

/** Several keys may fit: two keys with the same id, or all keys if the token names none. */
async function verifySignature(
  { jwtVerify, errors }: Jose,
  token: string,
  { find }: KeySet,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Helps to find a clock that is wrong. */
function clockText(validFrom: unknown, nowMs: number): string {
  const seconds = Number(validFrom);
  if (!(Math.abs(seconds) <= 8.64e12)) return "";
  const [from, now] = [seconds * 1_000, nowMs].map((at) => new Date(at).toISOString());
  return `: it is from ${from} on, and the clock of this server says ${now}`;
}

function reasonOf({ errors }: Jose, error: unknown, spec: IssuerSpec, nowMs: number): string {
  const { issuer } = spec;
  if (error instanceof errors.JWTExpired) {
    const atMs = Number(error.payload.exp) * 1_000;
    // A time that no calendar has.
    if (!(Math.abs(atMs) <= 8.64e15)) return `the token of ${issuer} has expired`;
    return `the token of ${issuer} expired at ${new Date(atMs).toISOString()}`;
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    switch (error.claim) {
      case "aud":
        return `the audience of the token of ${issuer} is not ${audiencesOf(spec).join(" or ")}`;
      case "nbf":
        return `the token of ${issuer} is not valid yet${clockText(error.payload.nbf, nowMs)}`;
      case "exp":
        return `the token of ${issuer} has no time of expiry`;
      default:
        return `a claim of the token of ${issuer} cannot be used`;
    }
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return `no key of ${issuer} is the one that the token names`;
  }
  return `the token has no valid signature of ${issuer}`;
}
