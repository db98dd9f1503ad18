/**
 * A query as Go reads it: the first value of a key counts, `+` is a space, and a pair that is badly
 * encoded or holds a semicolon is as good as absent.
 */
export class Query {
  readonly #values = new Map<string, string>();

  constructor(url: string) {
    const start = url.indexOf("?");
    if (start < 0) return;
    for (const pair of url.slice(start + 1).split("&")) this.#add(pair);
  }

  /** Absent and empty are the same. */
  get(key: string): string {
    return this.#values.get(key) ?? "";
  }

  #add(pair: string): void {
    if (pair === "" || pair.includes(";")) return;
    const equals = pair.indexOf("=");
    const key = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decoded(pair.slice(equals + 1));
    if (key === undefined || value === undefined || this.#values.has(key)) return;
    this.#values.set(key, value);
  }
}

/** To Go text is bytes: what is no UTF-8 is still a value. */
function decoded(text: string): string | undefined {
  if (!/[%+]/.test(text)) return text;
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  const plain = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(plain);
  } catch {
    const parts = plain.split(/(%[\da-f]{2})/i);
    return Buffer.concat(parts.map(bytesOf)).toString();
  }
}

function bytesOf(part: string, index: number): Buffer {
  return index % 2 === 1 ? Buffer.from(part.slice(1), "hex") : Buffer.from(part);
}
