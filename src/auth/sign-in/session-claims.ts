/** What a session keeps of an id token. */
import type { IssuerSpec } from "../issuer-spec.ts";
import { type Claims, claimAt, matchesClaim } from "../issuers/claims.ts";

/**
 * The claims that the rules of the issuer use, by their paths. Of a list only the elements that a
 * rule looks for are kept: some users are in hundreds of groups, and a cookie is small.
 */
export function sessionClaims({ rules }: IssuerSpec, claims: Claims): Claims {
  const patterns = new Map<string, string[]>([["sub", []]]);
  for (const { claims: wanted, space, name = "" } of rules) {
    for (const [path, pattern] of Object.entries(wanted)) {
      patterns.set(path, [...(patterns.get(path) ?? []), pattern]);
    }
    for (const [, path = ""] of `${space} ${name}`.matchAll(/\{([^{}]+)\}/g)) {
      patterns.set(path, patterns.get(path) ?? []);
    }
  }
  const kept = Array.from(patterns, ([path, wanted]) => {
    const value = claimAt(claims, path);
    if (!Array.isArray(value)) return [path, value] as const;
    return [path, value.filter((one) => wanted.some((each) => matchesClaim(each, one)))] as const;
  });
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}
