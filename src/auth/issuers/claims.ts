/** The claims of a verified token, and patterns for them. */

export type Claims = Readonly<Record<string, unknown>>;

/**
 * The value of a claim by its path. `kubernetes.io/namespace` is the claim of this name, or the
 * field `namespace` of the claim `kubernetes.io`: names of claims may have slashes themselves.
 */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const name = path.slice(0, at);
    const inner = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (!isClaims(inner)) continue;
    const found = claimAt(inner, path.slice(at + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

export function isClaims(value: unknown): value is Claims {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The claim as text; undefined if it is missing, empty, a list or a map. */
export function textAt(claims: Claims, path: string): string | undefined {
  return textOf(claimAt(claims, path));
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Whether the value matches; of a list, whether one of its elements does. */
export function matchesClaim(pattern: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((one) => matchesText(pattern, textOf(one)));
  return matchesText(pattern, textOf(value));
}

function matchesText(pattern: string, text: string | undefined): boolean {
  return text !== undefined && matchesPattern(pattern, text);
}

/**
 * `*` stands for any characters, `/` included; all else must be equal. Takes linear time for every
 * pattern, because the first place where a part fits is always good enough.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  const endAt = text.length - last.length;
  if (!text.startsWith(first) || endAt < first.length || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= endAt;
}
