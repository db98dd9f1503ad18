/** Sealed secrets in the database of a journal. What is in them, and the keys, are elsewhere. */

export interface SealedName {
  readonly kind: string;
  /** What the secret belongs to. */
  readonly owner: string;
}

export interface SealedRow extends SealedName {
  readonly sealedAtMs: number;
  readonly sealed: Uint8Array;
}

/** Every method throws `JournalUnavailable` if the database cannot be reached. */
export interface SealedRows {
  /** For people: where they are. */
  readonly name: string;
  get(entry: SealedName): Promise<Uint8Array | undefined>;
  /** Ordered by owner. */
  list(kind: string): Promise<readonly Omit<SealedRow, "sealed">[]>;
  all(): Promise<readonly SealedRow[]>;
  /** Replaces an older value. Throws `JournalConflict` if another replica leads. */
  put(row: SealedRow): Promise<void>;
  /** Throws `JournalConflict` if another replica leads. */
  remove(entry: SealedName): Promise<void>;
  /** Keeps an entry that is there. Any replica may call it. */
  add(row: SealedRow): Promise<void>;
  /** Replaces a value only if it is still the old one. Returns false if it is not. */
  reseal(row: SealedRow, old: Uint8Array): Promise<boolean>;
}
