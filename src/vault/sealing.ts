/** AES-256-GCM around one value. The key is found by its id; the owner is authenticated. */
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import type { EntryName } from "./vault.ts";

export const keyBytes = 32;
const algorithm = "aes-256-gcm";
/** First byte of every sealed value, so that a later format can be told apart. */
const format = 1;
const idBytes = 8;
/** Random: safe for 2^32 values under one key, which no broker reaches. */
const ivBytes = 12;
const tagBytes = 16;
const ivAt = 1 + idBytes;
const tagAt = ivAt + ivBytes;
const headBytes = tagAt + tagBytes;

/** A key and the id that sealed values name it by: a hash, from which it cannot be computed. */
export interface VaultKey {
  readonly id: string;
  readonly bytes: Buffer;
}

export function keyOf(bytes: Buffer): VaultKey {
  const id = hash("sha256", Buffer.concat([Buffer.from("berth vault key"), bytes]), "hex");
  return { id: id.slice(0, idBytes * 2), bytes };
}

export function seal(key: VaultKey, entry: EntryName, value: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key.bytes, iv);
  cipher.setAAD(belonging(entry));
  const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
  const head = [Buffer.of(format), Buffer.from(key.id, "hex"), iv, cipher.getAuthTag()];
  return Buffer.concat([...head, sealed]);
}

/** The id of the key that a sealed value needs; undefined if it is not a sealed value. */
export function keyIdOf(sealed: Uint8Array): string | undefined {
  if (sealed.length < headBytes || sealed[0] !== format) return undefined;
  return Buffer.from(sealed.subarray(1, ivAt)).toString("hex");
}

/** Undefined if the value was changed, or was sealed for another owner. */
export function unseal(key: VaultKey, entry: EntryName, sealed: Uint8Array): string | undefined {
  const iv = sealed.subarray(ivAt, tagAt);
  const tag = sealed.subarray(tagAt, headBytes);
  const decipher = createDecipheriv(algorithm, key.bytes, iv, { authTagLength: tagBytes });
  decipher.setAAD(belonging(entry));
  decipher.setAuthTag(tag);
  try {
    const opened = Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
    return opened.toString("utf8");
  } catch {
    return undefined;
  }
}

/** As JSON, so that no two names have the same bytes. */
function belonging({ kind, owner }: EntryName): Buffer {
  return Buffer.from(JSON.stringify([kind, owner]), "utf8");
}
