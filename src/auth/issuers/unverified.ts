import { type Claims, isClaims } from "./claims.ts";

/** Returns the claims of a token that is not verified yet; undefined if it is not a JWT. */
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
