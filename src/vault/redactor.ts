/** Masks secrets in every text that leaves the process: log lines, messages, collected output. */

/** Shorter values would mask ordinary words. */
const lengthMin = 4;
/** The oldest values are forgotten beyond this: a bound on memory that no installation reaches. */
const valuesMax = 50_000;
export const masked = "[hidden]";

/** A field whose value is secret, in YAML or JSON. */
const secretField =
  /(?:token|password|passwd|secret|client-key-data|client-certificate-data|access[_-]?key(?:[_-]?id)?|private[_-]?key)["']?\s*[:=]\s*["']?([^\s"',}]{4,})/gi;

/**
 * Registered values and the forms in which they appear: in JSON, in base64, in a URL, line by line.
 * A value must be registered before its first use.
 */
export class Redactor {
  /** By their first characters, so that a line is scanned once for all values. */
  readonly #byStart = new Map<string, Set<string>>();
  readonly #values = new Set<string>();

  register(value: string): void {
    if (value.trim().length < lengthMin) return;
    for (const form of formsOf(value)) this.#add(form);
  }

  /** A document such as a kubeconfig: as a whole, and each secret inside of it. */
  registerDocument(text: string): void {
    this.register(text);
    for (const [, value = ""] of text.matchAll(secretField)) {
      this.register(value);
      const decoded = decodedOf(value);
      if (decoded !== undefined) this.register(decoded);
    }
  }

  get size(): number {
    return this.#values.size;
  }

  clean(text: string): string {
    if (this.#values.size === 0 || text.length < lengthMin) return text;
    let out = "";
    let from = 0;
    for (let at = 0; at + lengthMin <= text.length; at++) {
      const found = this.#longestAt(text, at);
      if (found === undefined) continue;
      out += text.slice(from, at) + masked;
      from = at + found.length;
      at = from - 1;
    }
    return from === 0 ? text : out + text.slice(from);
  }

  /** Whether a text contains any registered value. */
  finds(text: string): boolean {
    return this.clean(text) !== text;
  }

  #longestAt(text: string, at: number): string | undefined {
    const candidates = this.#byStart.get(text.slice(at, at + lengthMin));
    if (candidates === undefined) return undefined;
    let best: string | undefined;
    for (const value of candidates) {
      if (value.length > (best?.length ?? 0) && text.startsWith(value, at)) best = value;
    }
    return best;
  }

  #add(value: string): void {
    this.#values.delete(value); // A value that is used again counts as new.
    this.#values.add(value);
    const start = value.slice(0, lengthMin);
    const same = this.#byStart.get(start) ?? new Set<string>();
    this.#byStart.set(start, same.add(value));
    if (this.#values.size > valuesMax) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest] = this.#values;
    if (oldest === undefined) return;
    this.#values.delete(oldest);
    const start = oldest.slice(0, lengthMin);
    const same = this.#byStart.get(start);
    same?.delete(oldest);
    if (same?.size === 0) this.#byStart.delete(start);
  }
}

function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  const lines = trimmed.includes("\n") ? secretLines(trimmed) : [];
  return [trimmed, ...lines].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString("base64"),
    Buffer.from(text).toString("base64url"),
    encodeURIComponent(text),
  ]);
}

/** Lines of a key in PEM: long runs without a space. Other lines are not secret by themselves. */
function secretLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^[\w+/=-]{40,}$/.test(line));
}

/** What a value in base64 contains, if that is a text. */
function decodedOf(value: string): string | undefined {
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(value)) return undefined;
  const text = Buffer.from(value, "base64").toString("utf8");
  return text.includes("\ufffd") ? undefined : text;
}
