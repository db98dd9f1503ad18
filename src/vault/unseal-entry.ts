import { keyIdOf, unseal, type VaultKey } from "./sealing.ts";
import { type EntryName, VaultUnusable } from "./vault.ts";

/** Where an entry and the keys are, for people. */
export interface VaultPlaces {
  readonly vault: string;
  readonly keyFile: string;
  /** What brings a damaged vault back. */
  readonly restore: string;
}

/** Throws `VaultUnusable` if no key opens it. */
export function unsealEntry(
  entry: EntryName,
  sealed: Uint8Array,
  keys: readonly VaultKey[],
  { vault, keyFile, restore }: VaultPlaces,
): string {
  const id = keyIdOf(sealed);
  const key = keys.find((one) => one.id === id);
  const cannot = `Cannot open the secret of ${entry.owner}`;
  if (id !== undefined && key === undefined) {
    throw new VaultUnusable(
      `${cannot}: it was sealed with the key ${id}, which is not in "${keyFile}"`,
      "Put the old key back into the file, below the present one",
    );
  }
  const value = key && unseal(key, entry, sealed);
  if (value !== undefined) return value;
  throw new VaultUnusable(
    `${cannot}: its entry in "${vault}" was changed or belongs to something else`,
    `${restore}; a cluster can also be replaced or destroyed`,
  );
}

/** Undefined if no key opens it. */
export function unsealWith(
  entry: EntryName,
  sealed: Uint8Array,
  keys: readonly VaultKey[],
): string | undefined {
  const key = keys.find(({ id }) => id === keyIdOf(sealed));
  return key && unseal(key, entry, sealed);
}
