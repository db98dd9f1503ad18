import { hash } from "node:crypto";
import type { RequestId } from "../core/ids.ts";

/** How many tokens are kept at hand; more are derived again. */
const keptMax = 20_000;

/**
 * A lease's token is derived from its id and the journal's secret. So none is ever stored: not in
 * the journal, not in a snapshot, not in an event that somebody follows; and a retry whose first
 * answer was lost is told the same one again.
 */
export class Tokens {
  readonly #secret: string;
  #kept = new Map<RequestId, string>();

  constructor(secret: string) {
    this.#secret = secret;
  }

  of(id: RequestId): string {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    // SHA-512/256 cannot be continued from its result, so the secret in front makes it a MAC. HMAC
    // would hash twice and takes three times as long through `node:crypto`.
    const token = hash("sha512-256", this.#secret + id, "base64url");
    if (this.#kept.size >= keptMax) this.#kept = new Map();
    this.#kept.set(id, token);
    return token;
  }

  /** Takes as long whichever character is wrong. */
  proves(id: RequestId, token: string): boolean {
    const expected = this.of(id);
    if (token.length !== expected.length) return false;
    let difference = 0;
    for (let index = 0; index < expected.length; index++) {
      difference |= expected.charCodeAt(index) ^ token.charCodeAt(index);
    }
    return difference === 0;
  }
}
