import { createHmac, timingSafeEqual } from "node:crypto";
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
    const token = createHmac("sha256", this.#secret).update(id).digest("base64url");
    if (this.#kept.size >= keptMax) this.#kept = new Map();
    this.#kept.set(id, token);
    return token;
  }

  proves(id: RequestId, token: string): boolean {
    const expected = Buffer.from(this.of(id));
    const given = Buffer.from(token);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }
}
