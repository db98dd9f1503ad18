/** The keys of the vault: a file with one key per line. The first one seals, each of them opens. */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { keyBytes, keyOf, type VaultKey } from "./sealing.ts";
import { VaultUnusable } from "./vault.ts";

const note =
  "# Keys of Berth's vault. The first one seals, each of them opens. Keep this file secret.";
/** Far more than any rotation needs. */
const keysMax = 100;

/** Reads the file at every call, so that a rotation takes effect without a restart. */
export function readKeys(path: string): readonly VaultKey[] {
  const text = readText(path);
  mustBePrivate(path);
  const lines = text.split("\n").map((line) => line.trim());
  const keys = lines.flatMap((line, index) => {
    if (line === "" || line.startsWith("#")) return [];
    const bytes = Buffer.from(line, "base64");
    if (/^[A-Za-z0-9+/_-]+=*$/.test(line) && bytes.length === keyBytes) return [keyOf(bytes)];
    throw unusable(path, `line ${index + 1} is not a key`, keyForm);
  });
  if (keys.length === 0) throw unusable(path, "it has no key", keyForm);
  if (keys.length > keysMax) throw unusable(path, `it has more than ${keysMax} keys`, keyForm);
  return keys;
}

const keyForm =
  "Each line is one key: 32 random bytes in base64, as `openssl rand -base64 32` prints them";

/** Makes a file with one new key. An existing file stays as it is. */
export function makeKeyFile(path: string): void {
  if (existsSync(path)) return;
  const draft = `${path}.${process.pid}`;
  try {
    writePrivate(draft, [keyOf(randomBytes(keyBytes))]);
    linkSync(draft, path); // Fails if another process was faster; its key is the one.
    syncFolder(dirname(path));
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw unusable(path, "it cannot be made", "Make its folder writable for this user", error);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Puts a new key first. Returns the keys as they are now. */
export function addKey(path: string): readonly VaultKey[] {
  const keys = [keyOf(randomBytes(keyBytes)), ...readKeys(path)];
  writeKeys(path, keys);
  return keys;
}

/** Replaces the file in one step, so that a crash leaves the old keys or the new ones. */
export function writeKeys(path: string, keys: readonly VaultKey[]): void {
  const draft = `${path}.${process.pid}`;
  try {
    writePrivate(draft, keys);
    renameSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(draft, { force: true });
    throw unusable(path, "it cannot be written", "Make it writable for this user", error);
  }
}

function writePrivate(path: string, keys: readonly VaultKey[]): void {
  const lines = [note, ...keys.map(({ bytes }) => bytes.toString("base64"))];
  const descriptor = openSync(path, "w", 0o600);
  try {
    writeFileSync(descriptor, `${lines.join("\n")}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const missing = codeOf(error) === "ENOENT";
    const state = missing ? "it does not exist" : "it cannot be read";
    const hint = missing
      ? "Restore it from a backup; without it, what was sealed with its keys is lost"
      : "Let this user read it";
    throw unusable(path, state, hint, error);
  }
}

function mustBePrivate(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o007) === 0) return;
  throw unusable(path, "every user of this machine may use it", `chmod 600 "${path}"`);
}

function unusable(path: string, state: string, hint: string, cause?: unknown): VaultUnusable {
  return new VaultUnusable(`Cannot use the vault's keys "${path}": ${state}`, hint, { cause });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
