/** The body of `/update`: changes to user data, in the way in which Go's decoder takes them. */

/** Null removes a key, as an empty text does. */
export type UserDataChange = Readonly<Record<string, string | null>>;

/** What the body asks for, or Go's words for what is wrong with it. It quotes no value. */
export function parseUserData(
  body: string,
): { readonly change: UserDataChange } | { readonly error: string } {
  if (body.trim() === "") return { change: {} };
  const parsed = firstValue(body);
  if ("error" in parsed) return parsed;
  const { value } = parsed;
  if (value === null) return { change: {} };
  if (typeof value !== "object" || Array.isArray(value)) {
    return { error: cannotUnmarshal(value, "map[string]string") };
  }
  const change: Record<string, string | null> = {};
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry !== "string" && entry !== null) {
      return { error: cannotUnmarshal(entry, "string") };
    }
    Object.defineProperty(change, key, { value: entry === "" ? null : entry, enumerable: true });
  }
  return { change };
}

function cannotUnmarshal(value: unknown, type: string): string {
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  return `json: cannot unmarshal ${kind === "boolean" ? "bool" : kind} into Go value of type ${type}`;
}

/** Only the first value is read; what follows it is ignored. */
function firstValue(text: string): { readonly value: unknown } | { readonly error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (cause) {
    const message = String(cause);
    const [, position] = /position (\d+)/.exec(message) ?? [];
    if (/after JSON/.test(message)) return { value: JSON.parse(text.slice(0, Number(position))) };
    // Some of the parser's messages tell where, some tell what, and at the end there is neither.
    const [, token] = /Unexpected token '(.)'/su.exec(message) ?? [];
    const wrong = token ?? (position === undefined ? undefined : text[Number(position)]);
    if (wrong === undefined) return { error: "unexpected EOF" };
    return { error: `invalid character ${quoted(wrong)} looking for beginning of value` };
  }
}

function quoted(character: string): string {
  return character === "'" ? "'\\''" : `'${character}'`;
}
