/** A journal in a data folder, as the source or the target of a copy. */
import { DatabaseSync } from "node:sqlite";
import { commitChecksum, secretChecksum, snapshotChecksum } from "../../journal/checksum.ts";
import { makeDataFolder, makePrivateFile } from "../../journal/data-folder.ts";
import { FolderLock } from "../../journal/folder-lock.ts";
import { formatKey } from "../../journal/format.ts";
import { HeadMark } from "../../journal/head-mark.ts";
import { type Recorded, storedCommit } from "../../journal/journal.ts";
import { forgetElsewhere } from "../../journal/journal-elsewhere.ts";
import type { SealedRow } from "../../journal/sealed-rows.ts";
import { journalPath } from "../../journal/sqlite.ts";
import { openDatabase } from "../../journal/sqlite-database.ts";
import { SqliteJournalReader } from "../../journal/sqlite-reader.ts";
import { readSecret } from "../../journal/sqlite-rows.ts";
import { copyingKey, sql } from "../../journal/sqlite-statements.ts";
import { inTransaction } from "../../journal/sqlite-transaction.ts";
import { keyFilePath, SqliteVault, vaultPath } from "../../vault/sqlite-vault.ts";
import type { JournalSource, JournalTarget } from "./journal-copy.ts";

/** Reads while a server may write: the journal is taken as it is at the first read. */
export async function sqliteSource(folder: string): Promise<JournalSource> {
  const path = journalPath(folder);
  const reader = new SqliteJournalReader(path);
  using database = new DatabaseSync(path, { readOnly: true });
  const snapshot = await reader.loadSnapshot();
  const range = database.prepare("SELECT min(seq) AS first, max(seq + count) AS next FROM journal");
  const { first, next } = range.get() ?? {};
  const head = Number(next ?? 1) - 1;
  return {
    name: folder,
    secret: readSecret(database, path),
    firstSeq: Number(first ?? 1),
    head,
    snapshot,
    format: markIn(database),
    sealed: await sealedIn(folder),
    commits: (seq) => upTo(head, reader.read(seq)),
    close: async () => reader.close(),
  };
}

function markIn(database: DatabaseSync): number {
  return Number(database.prepare(sql.meta).get(formatKey)?.["value"] ?? 1);
}

/** Of the vault in the data folder, if it has one. */
async function sealedIn(folder: string): Promise<readonly SealedRow[]> {
  const vault = new SqliteVault(vaultPath(folder), keyFilePath(folder));
  try {
    return await vault.sealedRows();
  } finally {
    await vault.close();
  }
}

export async function* upTo(
  head: number,
  commits: AsyncIterable<Recorded>,
): AsyncIterable<Recorded> {
  for await (const commit of commits) {
    if (commit.seq > head) return;
    yield commit;
  }
}

/** Takes the lock of the folder, so that no server uses it. */
export class SqliteTarget implements JournalTarget {
  readonly name: string;
  readonly #lock: FolderLock;
  #database: DatabaseSync | undefined;

  constructor(folder: string) {
    this.name = folder;
    makeDataFolder(folder);
    this.#lock = FolderLock.take(folder);
  }

  get #open(): DatabaseSync {
    makePrivateFile(this.name, journalPath(this.name));
    this.#database ??= openDatabase(journalPath(this.name));
    return this.#database;
  }

  async found(): Promise<{ secret: string; head: number } | undefined> {
    const database = this.#open;
    const head = Number(database.prepare(sql.head).get()?.["head"] ?? 0);
    const isBegun = database.prepare(sql.meta).get(copyingKey) !== undefined;
    if (head === 0 && !isBegun) return undefined;
    return { secret: readSecret(database, journalPath(this.name)), head };
  }

  async begin({ secret }: JournalSource): Promise<void> {
    const put = this.#open.prepare(
      "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
    this.#transaction(() => {
      put.run(copyingKey, "yes");
      put.run("secret", secret);
      put.run("secret_checksum", String(secretChecksum(secret)));
      put.run("checksums_from", "1");
    });
  }

  async append(commits: readonly Recorded[]): Promise<void> {
    const database = this.#open;
    const insert = database.prepare(
      "INSERT INTO journal (seq, at, count, events, previous, checksum) VALUES (?, ?, ?, ?, ?, ?)",
    );
    let previous = Number(database.prepare(sql.lastCommit).get()?.["checksum"] ?? 0);
    this.#transaction(() => {
      for (const { seq, at, events } of commits) {
        const commit = storedCommit(seq - 1, at, events);
        const checksum = commitChecksum(previous, commit);
        insert.run(seq, at, commit.count, commit.events, previous, checksum);
        previous = checksum;
      }
    });
  }

  async finish({ snapshot, format, sealed }: JournalSource): Promise<void> {
    const database = this.#open;
    await this.#addSecrets(sealed);
    this.#transaction(() => {
      if (snapshot !== undefined) {
        const { seq, at, state } = snapshot;
        database.prepare(sql.saveSnapshot).run(seq, at, state, snapshotChecksum(snapshot));
      }
      if (format > markIn(database)) database.prepare(sql.setMeta).run(formatKey, String(format));
      database.prepare("DELETE FROM meta WHERE key = ?").run(copyingKey);
    });
    const head = Number(database.prepare(sql.head).get()?.["head"] ?? 0);
    const checksum = database.prepare(sql.lastCommit).get()?.["checksum"] ?? null;
    const mark = HeadMark.open(this.name);
    mark.write({ head, checksum: checksum === null ? null : Number(checksum) });
    mark.close();
    forgetElsewhere(this.name);
  }

  async #addSecrets(sealed: readonly SealedRow[]): Promise<void> {
    if (sealed.length === 0) return;
    const vault = new SqliteVault(vaultPath(this.name), keyFilePath(this.name));
    await vault.addSealed(sealed);
    await vault.close();
  }

  open(): Promise<JournalSource> {
    return sqliteSource(this.name);
  }

  async close(): Promise<void> {
    this.#database?.close();
    this.#lock.release();
  }

  #transaction(work: () => void): void {
    inTransaction(this.#open, work);
  }
}
