/** The id of a request or lease, and the token that proves who holds it. */
import { hash, randomFillSync } from "node:crypto";
import type { RequestId } from "../core/model/ids.ts";

/** Without i, l, o and u (Crockford's Base32), which are easy to misread or form words. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeLength = 9;
const randomLength = 7;
const randomBytes = new Uint8Array(4096);
let usedBytes = randomBytes.length;

/**
 * Returns sixteen characters that sort by time: nine for the milliseconds and seven random ones (35
 * bits). Two requests in the same millisecond get the same id once in 34 billion pairs. Random bytes
 * are read in bulk, because one system call per id costs more than the rest of a grant.
 */
export function newRequestId(nowMs: number): RequestId {
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastPrefix = prefixOf(nowMs);
  }
  if (usedBytes + randomLength > randomBytes.length) {
    randomFillSync(randomBytes);
    usedBytes = 0;
  }
  let text = lastPrefix;
  for (let index = 0; index < randomLength; index++) {
    text += alphabet.charAt((randomBytes[usedBytes++] ?? 0) & 31);
  }
  return text as RequestId;
}

let lastMs = -1;
let lastPrefix = "";

function prefixOf(nowMs: number): string {
  let rest = nowMs;
  let text = "";
  for (let index = 0; index < timeLength; index++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

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
