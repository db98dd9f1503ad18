import { existsSync } from "node:fs";
import type { SealedRows } from "../journal/sealed-rows.ts";
import { readKeys } from "./key-file.ts";
import { seal, type VaultKey } from "./sealing.ts";
import type { Rotation } from "./sqlite-vault.ts";
import { unsealEntry, unsealWith } from "./unseal-entry.ts";
import {
  type EntryInfo,
  type EntryKind,
  type EntryName,
  type Vault,
  VaultUnusable,
} from "./vault.ts";

const howToGetKeys =
  "copy it from another one, or make the first with `openssl rand -base64 32`, mode 600";

/**
 * The vault of all replicas: sealed rows beside the journal, and the same key file on each of them.
 * No replica makes a key by itself, because the others could not open what it seals.
 */
export class SharedVault implements Vault {
  readonly #rows: SealedRows;
  readonly #keyFile: string;
  readonly #now: () => number;

  constructor(rows: SealedRows, keyFile: string, now: () => number = Date.now) {
    this.#rows = rows;
    this.#keyFile = keyFile;
    this.#now = now;
  }

  async put(entry: EntryName, value: string): Promise<void> {
    const [key] = this.#keys();
    if (key === undefined) return;
    const row = { ...entry, sealedAtMs: this.#now(), sealed: seal(key, entry, value) };
    await this.#guard("write", () => this.#rows.put(row));
  }

  async open(entry: EntryName): Promise<string | undefined> {
    const sealed = await this.#guard("read", () => this.#rows.get(entry));
    if (sealed === undefined) return undefined;
    const restore = "Restore the table from a backup of the database";
    const places = { vault: this.#rows.name, keyFile: this.#keyFile, restore };
    return unsealEntry(entry, sealed, this.#keys(), places);
  }

  async wipe(entry: EntryName): Promise<void> {
    await this.#guard("write", () => this.#rows.remove(entry));
  }

  async list(kind: EntryKind): Promise<readonly EntryInfo[]> {
    const rows = await this.#guard("read", () => this.#rows.list(kind));
    return rows.map(({ owner, sealedAtMs }) => ({ kind, owner, sealedAtMs }));
  }

  /** Seals every entry with the first key of the file. Servers may use the vault meanwhile. */
  async reseal(): Promise<Rotation> {
    const keys = this.#keys();
    const [first] = keys;
    const failed: EntryName[] = [];
    let resealed = 0;
    for (const row of await this.#guard("read", () => this.#rows.all())) {
      const entry = { kind: row.kind as EntryKind, owner: row.owner };
      const value = unsealWith(entry, row.sealed, keys);
      if (value === undefined || first === undefined) {
        failed.push(entry);
        continue;
      }
      const next = { ...row, sealed: seal(first, entry, value) };
      // A value that a server has replaced meanwhile is sealed with its own first key.
      await this.#guard("write", () => this.#rows.reseal(next, row.sealed));
      resealed += 1;
    }
    return { resealed, failed };
  }

  /** The connections belong to the journal. */
  async close(): Promise<void> {}

  #keys(): readonly VaultKey[] {
    if (existsSync(this.#keyFile)) return readKeys(this.#keyFile);
    throw new VaultUnusable(
      `Cannot use the vault's keys "${this.#keyFile}": the file does not exist`,
      `Every server on one journal needs the same key file: ${howToGetKeys}`,
    );
  }

  async #guard<Result>(verb: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new VaultUnusable(
        `Cannot ${verb} the vault: ${why}`,
        "Check PostgreSQL and the network to it; lending goes on without the vault",
        { cause: error },
      );
    }
  }
}
