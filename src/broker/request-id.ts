import { randomFillSync } from "node:crypto";
import type { RequestId } from "../core/model/ids.ts";

/** Without i, l, o and u: nothing that is misread, and few words. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const timeLength = 9;
const randomLength = 7;
const pool = new Uint8Array(4096);
let used = pool.length;

/**
 * Sixteen characters that sort by time: nine of milliseconds, seven of chance (35 bits), which two
 * requests in the same millisecond share once in 30 billion. Random bytes are drawn in bulk: one
 * system call per id costs more than the rest of a grant.
 */
export function newRequestId(nowMs: number): RequestId {
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastPrefix = prefixOf(nowMs);
  }
  if (used + randomLength > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = lastPrefix;
  for (let place = 0; place < randomLength; place++) {
    text += alphabet.charAt((pool[used++] ?? 0) & 31);
  }
  return text as RequestId;
}

let lastMs = -1;
let lastPrefix = "";

function prefixOf(nowMs: number): string {
  let rest = nowMs;
  let text = "";
  for (let place = 0; place < timeLength; place++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
