/**
 * Sessions of the page. The cookie has the token of the user and the end of the session, encrypted
 * with a key of the journal. The server stores nothing, every replica can read it, and the token is
 * checked again with each call, so that a token that is removed ends its sessions too.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** A working day. Afterwards the user signs in again. */
export const sessionMs = 8 * 3_600_000;
/** Browsers refuse larger cookies. */
export const sessionTokenLengthMax = 2_048;

const [nonceBytes, tagBytes] = [12, 16];
const cipher = "aes-256-gcm";

export class Sessions {
  readonly #key: Buffer;
  readonly #nowMs: () => number;

  constructor(secret: string, nowMs: () => number = Date.now) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "berth session", 32));
    this.#nowMs = nowMs;
  }

  /** Returns the value of the cookie. */
  seal(token: string): string {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.#key, nonce);
    const text = JSON.stringify({ token, untilMs: this.#nowMs() + sessionMs });
    const sealed = Buffer.concat([sealing.update(text), sealing.final()]);
    return Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString("base64url");
  }

  /** Returns the token; undefined if the session is over, or if the value is not ours. */
  open(value: string): string | undefined {
    const bytes = Buffer.from(value, "base64url");
    if (bytes.length <= nonceBytes + tagBytes) return undefined;
    try {
      const nonce = bytes.subarray(0, nonceBytes);
      const opening = createDecipheriv(cipher, this.#key, nonce, { authTagLength: tagBytes });
      opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const sealed = bytes.subarray(nonceBytes + tagBytes);
      const text = Buffer.concat([opening.update(sealed), opening.final()]).toString();
      const { token, untilMs } = JSON.parse(text) as { token: string; untilMs: number };
      return untilMs > this.#nowMs() ? token : undefined;
    } catch {
      return undefined; // Another server made it, or nobody.
    }
  }
}
