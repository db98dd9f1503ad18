/** Text with places for values: `${name}`, `${parameters.version}`. `$${` stands for `${`. */

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type Scalar = string | number | boolean;

const place = /\$?\$\{([^{}]*)\}/g;

/** The names of all places in a value, however deep they are. */
export function placeholdersIn(value: JsonValue): readonly string[] {
  if (typeof value === "string") {
    const found = [...value.matchAll(place)].filter(([whole]) => !whole.startsWith("$$"));
    return found.map(([, name = ""]) => name);
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((inner: JsonValue) => placeholdersIn(inner));
}

/**
 * The value with its places filled. A text that is nothing but a place becomes the value itself, with
 * its type. Only texts that were there before are searched, so a value cannot bring places with it.
 * `inText` is called with each value that becomes a part of a longer text.
 */
export function fillPlaceholders(
  value: JsonValue,
  lookUp: (name: string) => Scalar,
  inText: (name: string, value: Scalar) => string = (_, found) => String(found),
): JsonValue {
  if (typeof value === "string") return filledText(value, lookUp, inText);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((inner: JsonValue) => fillPlaceholders(inner, lookUp, inText));
  }
  const filled = Object.entries(value).map(([key, inner]) => [
    key,
    fillPlaceholders(inner, lookUp, inText),
  ]);
  return Object.fromEntries(filled) as JsonValue;
}

function filledText(
  text: string,
  lookUp: (name: string) => Scalar,
  inText: (name: string, value: Scalar) => string,
): JsonValue {
  const [whole] = text.matchAll(place);
  if (whole?.[0] === text && !text.startsWith("$$")) return lookUp(whole[1] ?? "");
  return text.replaceAll(place, (written, name: string) =>
    written.startsWith("$$") ? written.slice(1) : inText(name, lookUp(name)),
  );
}
