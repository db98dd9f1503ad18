import { randomFillSync } from "node:crypto";
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
