import { hash } from "node:crypto";
import type { RequestId } from "../core/model/ids.ts";

/**
 * A lease's token is derived from its id and the journal's secret. So none is ever stored: not in
 * the journal, not in a snapshot, not in an event that somebody follows; and a retry whose first
 * answer was lost is told the same one again.
 */
export class Tokens {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * SHA-512/256 cannot be continued from its result, so the secret in front makes it a MAC. HMAC hashes
   * twice and takes three times as long through `node:crypto`. Keeping tokens in a map costs more than
   * deriving them again.
   */
  of(id: RequestId): string {
    return hash("sha512-256", this.#secret + id, "base64url");
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
