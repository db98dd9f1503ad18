import { type Claims, isClaims } from "./claims.ts";

/** What a signed token claims, before anybody has verified it; undefined if it is no such token. */
export function claimsOf(token: string): Claims | undefined {
  const [, payload, signature, ...more] = token.split(".");
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    return isClaims(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
