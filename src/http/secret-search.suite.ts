/**
 * Searches all that a server in the process of a test has written for the tokens that its callers have
 * sent and got. A server in a process of its own is searched by `test/evidence.ts`.
 */

/** Shorter ones are words of a test that only looks what is refused. */
const lengthMin = 16;

/** Signed tokens, and those of `berth token new`. */
const shapes = [/eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/, /\bberth_[\w-]{43}\b/];

export class SecretSearch {
  readonly #words = new Set<string>();

  /** A token that a caller has sent, or the answer has. */
  watch(token: unknown): void {
    if (typeof token !== "string" || token.length < lengthMin) return;
    // The longest part that is one word wherever it stands. The signature of a JWT is such a part.
    const parts = token.split(/[^\w-]+/).sort((a, b) => b.length - a.length);
    const [word = ""] = parts;
    if (word.length >= lengthMin) this.#words.add(word);
  }

  /** The `Authorization` of a call, and a token in its JSON answer. */
  watchCall(authorization: string | undefined, body: unknown): void {
    const [scheme, value = ""] = authorization?.split(" ") ?? [];
    this.watch(scheme === "Basic" ? passwordIn(value) : value);
    this.watch((Object(body) as { readonly token?: unknown }).token);
  }

  /** Throws if one of them is in what was written. `written`: texts by where they are. */
  check(written: Readonly<Record<string, string>>): void {
    for (const [place, text] of Object.entries(written)) {
      for (const word of text.split(/[^\w-]+/)) {
        if (this.#words.has(word)) throw found(place, `the token ${word.slice(0, 4)}…`);
      }
      for (const shape of shapes) if (shape.test(text)) throw found(place, String(shape));
    }
  }
}

function passwordIn(value: string): string {
  return Buffer.from(value, "base64").toString().split(":").slice(1).join(":");
}

function found(place: string, what: string): Error {
  return new Error(`A secret was written down: the ${place} of the server has ${what}`);
}
