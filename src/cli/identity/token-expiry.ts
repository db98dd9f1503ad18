/** When a signed token expires, in milliseconds since 1970; 0 if it does not say so. */
export function expiryOf(idToken: string): number {
  const { exp } = timesOf(idToken);
  return typeof exp === "number" ? exp * 1_000 : 0;
}

/** For how long it is valid, whatever the clock of this machine says; 0 if it does not say so. */
export function lifetimeOf(idToken: string): number {
  const { exp, iat } = timesOf(idToken);
  return typeof exp === "number" && typeof iat === "number" ? (exp - iat) * 1_000 : 0;
}

function timesOf(idToken: string): { readonly exp?: unknown; readonly iat?: unknown } {
  try {
    const [, payload = ""] = idToken.split(".");
    return Object(JSON.parse(Buffer.from(payload, "base64url").toString()));
  } catch {
    return {}; // The server reports what is wrong with the token.
  }
}
