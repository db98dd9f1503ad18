/**
 * Where secrets are kept: access to clusters, and credentials that spaces bring. The journal never
 * contains one of them. The first implementation is a file of SQLite; the methods return promises so
 * that a database elsewhere can follow.
 */

/** Entries of one kind never open as another. */
export type EntryKind = "access" | "credentials" | "retired-credentials" | "secret-hash";

/**
 * What a secret belongs to. It is authenticated together with the value, so an entry that somebody
 * copies to another owner does not open.
 */
export interface EntryName {
  readonly kind: EntryKind;
  readonly owner: string;
}

export interface EntryInfo extends EntryName {
  readonly sealedAtMs: number;
}

export interface Vault {
  /** Durable when it resolves. Replaces an older value, whose bytes are overwritten. */
  put(entry: EntryName, value: string): Promise<void>;
  /** Undefined if there is no such entry. Throws `VaultUnusable` if no key opens it. */
  open(entry: EntryName): Promise<string | undefined>;
  /** Overwrites and removes the entry; succeeds if there is none. */
  wipe(entry: EntryName): Promise<void>;
  /** Ordered by owner. It needs no key. */
  list(kind: EntryKind): Promise<readonly EntryInfo[]>;
  close(): Promise<void>;
}

/** The vault cannot seal or open. Lending goes on; only secrets are out of reach. */
export class VaultUnusable extends Error {
  override readonly name = "VaultUnusable";
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
