/**
 * Encrypts what a browser keeps for the server. Every replica has the key, so the server stores
 * nothing. A value that was sealed for one purpose cannot be used for another.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const [nonceBytes, tagBytes] = [12, 16];
const cipher = "aes-256-gcm";

export class Sealer<Content> {
  readonly #key: Buffer;

  constructor(secret: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
  }

  seal(content: Content): string {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.#key, nonce);
    const sealed = Buffer.concat([sealing.update(JSON.stringify(content)), sealing.final()]);
    return Buffer.concat([nonce, sealing.getAuthTag(), sealed]).toString("base64url");
  }

  /** Returns undefined if the value is not ours. */
  open(value: string): Content | undefined {
    const bytes = Buffer.from(value, "base64url");
    if (bytes.length <= nonceBytes + tagBytes) return undefined;
    try {
      const nonce = bytes.subarray(0, nonceBytes);
      const opening = createDecipheriv(cipher, this.#key, nonce, { authTagLength: tagBytes });
      opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const sealed = bytes.subarray(nonceBytes + tagBytes);
      const text = Buffer.concat([opening.update(sealed), opening.final()]).toString();
      return JSON.parse(text) as Content;
    } catch {
      return undefined; // Another server made it, or nobody.
    }
  }
}
