/** When a signed token expires, in milliseconds since 1970; 0 if it does not say so. */
export function expiryOf(idToken: string): number {
  try {
    const [, payload = ""] = idToken.split(".");
    const { exp } = Object(JSON.parse(Buffer.from(payload, "base64url").toString()));
    return typeof exp === "number" ? exp * 1_000 : 0;
  } catch {
    return 0; // The server reports what is wrong with the token.
  }
}
