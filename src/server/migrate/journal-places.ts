/** Where a journal can be: `postgres://…`, a data folder, or (for backups) a file. */
import { existsSync } from "node:fs";
import { JournalUnusable } from "../../journal/journal.ts";
import { markElsewhere } from "../../journal/journal-elsewhere.ts";
import { isPostgresAddress, parsePostgresAddress } from "../../journal/postgres/address.ts";
import { PostgresJournal } from "../../journal/postgres/postgres.ts";
import { journalPath } from "../../journal/sqlite.ts";
import { BackupTarget, backupSource } from "./backup-file.ts";
import {
  type CopyReport,
  copyJournal,
  type JournalSource,
  type JournalTarget,
} from "./journal-copy.ts";
import { PostgresTarget, postgresSource } from "./postgres-place.ts";
import { SqliteTarget, sqliteSource } from "./sqlite-place.ts";

async function sourceAt(place: string): Promise<JournalSource> {
  if (isPostgresAddress(place)) return postgresSource(place);
  if (existsSync(journalPath(place))) return sqliteSource(place);
  throw new JournalUnusable(
    `Cannot read the journal of "${place}": the folder has none`,
    "Name the data folder of a server, or postgres://HOST/DATABASE",
    { input: "missing" },
  );
}

async function targetAt(place: string): Promise<JournalTarget> {
  return isPostgresAddress(place) ? PostgresTarget.make(place) : new SqliteTarget(place);
}

async function copyBetween(
  source: JournalSource,
  makeTarget: () => Promise<JournalTarget>,
  hintIfAhead?: string,
): Promise<CopyReport> {
  try {
    const target = await makeTarget();
    try {
      return await copyJournal(source, target, hintIfAhead);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * No server may use the source: what it lends meanwhile would be missing. A folder that was copied to
 * PostgreSQL says so, because a server that goes on in it would lend everything a second time.
 */
export async function copyPlace(from: string, to: string): Promise<CopyReport> {
  if (isPostgresAddress(from)) await mustBeUnused(from);
  const source = await sourceAt(from);
  // The lock of the folder proves that no server runs on it.
  const guard = isPostgresAddress(from) ? undefined : new SqliteTarget(from);
  try {
    const report = await copyBetween(source, () => targetAt(to));
    if (guard !== undefined && isPostgresAddress(to)) {
      markElsewhere(from, parsePostgresAddress(to).name);
    }
    return report;
  } finally {
    await guard?.close();
  }
}

/** Throws `JournalUnusable` if a server leads on this journal in PostgreSQL. */
async function mustBeUnused(address: string): Promise<void> {
  const journal = await PostgresJournal.open(address);
  try {
    const { leader, remainingMs } = await journal.look();
    if (leader === null || remainingMs <= 0) return;
    throw new JournalUnusable(
      `Cannot copy the journal ${journal.name}: the server ${leader.address ?? leader.replica} uses it`,
      "Stop all servers on it. A backup can be made while they run: berth backup FILE",
    );
  } finally {
    await journal.close();
  }
}

/** Also while servers use the journal: the backup has everything up to the moment of the call. */
export async function backUp(place: string, file: string): Promise<CopyReport> {
  return copyBetween(await sourceAt(place), async () => new BackupTarget(file));
}

const restoreHint =
  "A restore overwrites nothing. Stop the server and move the data folder away first, or restore to " +
  "another folder; in PostgreSQL, to another schema with ?schema=NAME";

export async function restoreFrom(file: string, place: string): Promise<CopyReport> {
  return copyBetween(await backupSource(file), () => targetAt(place), restoreHint);
}
