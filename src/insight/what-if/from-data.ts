import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Recovered, recover } from "../../broker/recovery.ts";
import { type FrozenState, thaw } from "../../core/apply/snapshot.ts";
import { JournalPruned } from "../../journal/journal.ts";
import { journalPath } from "../../journal/sqlite.ts";
import { sqliteFailure } from "../../journal/sqlite-failure.ts";
import { SqliteJournalReader } from "../../journal/sqlite-reader.ts";
import type { HistoryEntry, OpenEntry, PoolSize } from "../history/entry.ts";
import { HistoryFold, type Standing } from "../history/fold.ts";
import { historyPath } from "../history/history-file.ts";
import { hasHistoryTables } from "../history/journal-tables.ts";
import { HistoryReader, readCapacities, readDirty } from "../history/reader.ts";
import { isHistory } from "../history/schema.ts";
import type { Upkeep } from "../history/upkeep-fold.ts";
import type { WhatIfSource } from "./what-if.ts";

/** The history in a data folder, and its current configuration. */
export interface PastOfData {
  readonly source: WhatIfSource;
  readonly now: Recovered;
}

/** `from` is a data folder or a journal file. The server may be running. */
export async function readPast(from: string, lastMs: number): Promise<PastOfData> {
  const isFolder = statSync(from, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const path = isFolder ? journalPath(from) : from;
  const journal = new SqliteJournalReader(path);
  try {
    const now = await recover(journal);
    return { now, source: await sourceOf(path, journal, now.at - lastMs) };
  } finally {
    journal.close();
  }
}

/** The history file, completed in memory with the later events of the journal. */
async function sourceOf(
  path: string,
  journal: SqliteJournalReader,
  since: number,
): Promise<WhatIfSource> {
  const kept = latest(
    readKept(historyPath(dirname(path)), isHistory, since),
    // The history tables of an older Berth that were not moved yet.
    readKept(path, hasHistoryTables, since),
  );
  const fold = new HistoryFold(kept?.standing);
  try {
    for await (const recorded of journal.read(kept?.seq ?? 0)) fold.follow(recorded);
  } catch (error) {
    if (!(error instanceof JournalPruned)) throw error;
    await startOver(journal, fold);
  }
  const { ended, sizes, upkeep } = fold.take();
  return {
    ended: [...(kept?.ended ?? []), ...ended.filter(({ endedAt }) => endedAt >= since)],
    open: [...fold.open.values()],
    upkeep: [...(kept?.upkeep ?? []), ...upkeep],
    dirty: [...fold.dirty],
    sizes: [...(kept?.sizes ?? []), ...sizes.values()].sort(byPoolAndTime),
  };
}

interface Kept {
  readonly seq: number;
  readonly standing: Standing;
  readonly ended: readonly HistoryEntry[];
  readonly sizes: readonly PoolSize[];
  readonly upkeep: readonly Upkeep[];
}

function latest(one: Kept | undefined, other: Kept | undefined): Kept | undefined {
  return (other?.seq ?? 0) > (one?.seq ?? 0) ? other : one;
}

function readKept(
  path: string,
  hasHistory: (database: DatabaseSync) => boolean,
  since: number,
): Kept | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readHistory(path, hasHistory, since);
  } catch (error) {
    throw sqliteFailure(error, "read the history", path);
  }
}

function readHistory(
  path: string,
  hasHistory: (database: DatabaseSync) => boolean,
  since: number,
): Kept | undefined {
  using database = new DatabaseSync(path, { readOnly: true });
  database.exec("BEGIN"); // A server may write meanwhile, so all reads see one moment.
  if (!hasHistory(database)) return undefined;
  const reader = new HistoryReader(database);
  const open = new Map<string, OpenEntry>();
  for (const entry of reader.open()) open.set(entry.id, entry);
  const members = new Map<string, string>();
  const rows = database.prepare("SELECT resource, pool FROM history_member").iterate();
  for (const { resource, pool } of rows) members.set(String(resource), String(pool));
  const ended = [...reader.endedSince(since)];
  const lastNumber = ended.at(-1)?.number ?? 0;
  return {
    ...{ seq: reader.seq, ended, sizes: [...reader.sizes()] },
    upkeep: [...reader.upkeepSince(since)],
    standing: {
      ...{ open, members, lastNumber },
      ...{ capacities: readCapacities(database), dirty: readDirty(database) },
    },
  };
}

/** The earlier events were pruned, so the history starts with the snapshot. */
async function startOver(journal: SqliteJournalReader, fold: HistoryFold): Promise<void> {
  const snapshot = await journal.loadSnapshot();
  if (snapshot === undefined) return;
  fold.startOver(thaw(JSON.parse(snapshot.state) as FrozenState), snapshot.at);
  for await (const recorded of journal.read(snapshot.seq)) fold.follow(recorded);
}

function byPoolAndTime(a: PoolSize, b: PoolSize): number {
  return a.pool === b.pool ? a.at - b.at : a.pool < b.pool ? -1 : 1;
}
