import { hash } from "node:crypto";
import type { RequestId } from "../core/model/ids.ts";

/**
 * Derives the token of a lease from its id and the secret of the journal. So no token is stored in
 * the journal, in a snapshot or in an event, and a client that retries after a lost reply gets the
 * same token again.
 */
export class Tokens {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * SHA-512/256 allows no length extension, so a hash of secret and id is a secure MAC. HMAC hashes
   * twice and takes three times as long with `node:crypto`. A cache of tokens would cost more than
   * the hash.
   */
  of(id: RequestId): string {
    return hash("sha512-256", this.#secret + id, "base64url");
  }

  /** Compares in constant time, so that the duration does not reveal which character is wrong. */
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
