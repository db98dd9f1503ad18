import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import {
  type CheckedCommit,
  CommitChain,
  commitChecksum,
  damagedCommit,
  snapshotChecksum,
} from "./checksum.ts";
import { makeDataFolder, makePrivateFile } from "./data-folder.ts";
import { FolderLock } from "./folder-lock.ts";
import { formatOf } from "./format.ts";
import { HeadMark, type JournalEnd } from "./head-mark.ts";
import {
  closedJournal,
  type Journal,
  JournalUnavailable,
  misplacedSnapshot,
  prunedEvents,
  type Recorded,
  recordedAfter,
  type Snapshot,
  type StoredCommit,
  staleHead,
  storedCommit,
} from "./journal.ts";
import { mustBeHere } from "./journal-elsewhere.ts";
import { mustReachMark, SqliteConnection } from "./sqlite-connection.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { commitFromArray, readSnapshot, searchCommits } from "./sqlite-rows.ts";
import { pruneChunk, sql } from "./sqlite-statements.ts";

/** The path of the journal in a data folder. */
export function journalPath(folder: string): string {
  return join(folder, "journal.db");
}

export interface SqliteJournalOptions {
  /** Called when the journal has repaired something that a person should know. */
  readonly warn?: (message: string) => void;
}

/** How often the journal checks that its files still exist. */
const checkFilesEveryMs = 1_000;

/**
 * The default journal: `journal.db` in a folder that one process owns. Commits are written and
 * synced on the calling thread; `docs/decisions/0003-journal-on-sqlite.md` has the figures. Every
 * commit and the snapshot have a checksum, which every read checks (`0016-a-damaged-journal.md`).
 */
export class SqliteJournal implements Journal {
  readonly secret: string;
  readonly #path: string;
  readonly #lock: FolderLock;
  readonly #mark: HeadMark;
  readonly #warn: (message: string) => void;
  readonly #timer: NodeJS.Timeout;
  #connection: SqliteConnection;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #end: JournalEnd;
  /** Measured after a snapshot and after pruning; in between, commits are added up. */
  #bytes: number;

  private constructor(
    parts: { path: string; lock: FolderLock; mark: HeadMark; connection: SqliteConnection },
    options: SqliteJournalOptions,
  ) {
    this.#path = parts.path;
    this.#lock = parts.lock;
    this.#mark = parts.mark;
    this.#connection = parts.connection;
    this.#warn = options.warn ?? (() => {});
    this.secret = this.#connection.secret;
    this.#end = this.#connection.checkedEnd();
    this.#bytes = this.#connection.bytes();
    this.#mark.write(this.#end);
    this.#timer = setInterval(() => this.#checkFilesAlone(), checkFilesEveryMs).unref();
  }

  /**
   * Creates the folder and the journal if they are missing. Throws `JournalUnusable` if the folder
   * cannot be used, if another process has locked it, if its journal is elsewhere or damaged, and
   * `JournalUnavailable` if the disk is full.
   */
  static open(folder: string, options: SqliteJournalOptions = {}): SqliteJournal {
    makeDataFolder(folder);
    const lock = FolderLock.take(folder);
    const path = journalPath(folder);
    let mark: HeadMark | undefined;
    let connection: SqliteConnection | undefined;
    try {
      mustBeHere(folder);
      mustReachMark(folder, path);
      makePrivateFile(folder, path);
      mark = HeadMark.open(folder);
      connection = new SqliteConnection(path);
      return new SqliteJournal({ path, lock, mark, connection }, options);
    } catch (error) {
      connection?.database.close();
      mark?.close();
      lock.release();
      throw sqliteFailure(error, "open the journal", path);
    }
  }

  get head(): number {
    return this.#end.head;
  }

  async append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number> {
    const commit = storedCommit(head, at, events);
    return this.#attempt("append to", () => {
      this.#checkFiles();
      this.#connection.allow(formatOf(events));
      if (commit.count > 0 && this.#write(commit)) return this.#end.head;
      this.#end = this.#connection.end();
      if (commit.count > 0 || head !== this.head) throw staleHead(head, this.head);
      this.#connection.database.prepare(sql.probe).run(String(at));
      return this.head;
    });
  }

  /** Returns false if the journal does not end right before this commit. */
  #write(commit: StoredCommit): boolean {
    const { seq, at, count, events } = commit;
    const previous = this.#end.checksum ?? 0;
    const checksum = commitChecksum(previous, commit);
    const { changes } = this.#connection.insert.run(seq, at, count, events, previous, checksum);
    if (changes !== 1) return false;
    this.#end = { head: seq + count - 1, checksum };
    this.#bytes += events.length;
    this.#mark.write(this.#end);
    return true;
  }

  /** No transaction stays open while the consumer works: a page is read first, then yielded. */
  async *read(seq: number): AsyncIterable<Recorded> {
    let next = this.#attempt("read", () => this.#commitWith(seq + 1));
    const chain = new CommitChain(this.#connection.checksumsFrom);
    for (;;) {
      const page = this.#attempt("read", () => this.#readPage(next));
      if (page.length === 0) return;
      for (const commit of page) {
        if (commit.seq !== next) throw prunedEvents(next, commit.seq);
        chain.check(commit);
        yield recordedAfter(seq, commit);
        next = commit.seq + commit.count;
      }
      await setImmediate(); // A million commits must not delay heartbeats.
    }
  }

  async search(text: string, from: number, to: number): Promise<readonly Recorded[]> {
    return this.#attempt("search", () => {
      const { database, checksumsFrom } = this.#connection;
      return searchCommits(database, checksumsFrom, { text, from, to });
    });
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    this.#attempt("save a snapshot in", () => {
      const { seq, at, state } = snapshot;
      const { database } = this.#connection;
      const save = database.prepare(sql.saveSnapshot);
      const isCovered = seq <= this.head;
      if (isCovered && save.run(seq, at, state, snapshotChecksum(snapshot)).changes === 1) {
        this.#bytes = this.#connection.bytes();
        return;
      }
      const from = Number(database.prepare(sql.loadSnapshot).get()?.["seq"] ?? 0);
      throw misplacedSnapshot(snapshot, from, this.head);
    });
  }

  async loadSnapshot(): Promise<Snapshot | undefined> {
    return this.#attempt("load a snapshot from", () => {
      const { database, checksumsFrom } = this.#connection;
      return readSnapshot(database, checksumsFrom);
    });
  }

  get bytes(): number {
    return this.#bytes;
  }

  async prune(before: Instant, bytesMax = Number.POSITIVE_INFINITY): Promise<number> {
    let pruned = 0;
    let chunk = pruneChunk;
    while (chunk === pruneChunk) {
      chunk = this.#pruneChunk(before);
      pruned += chunk;
      await setImmediate();
    }
    for (chunk = 1; chunk > 0 && this.#bytes > bytesMax; pruned += chunk) {
      chunk = this.#pruneChunk(Number.MAX_SAFE_INTEGER);
      await setImmediate();
    }
    return pruned;
  }

  #pruneChunk(before: number): number {
    return this.#attempt("prune", () => {
      const { changes } = this.#connection.database.prepare(sql.prune).run(before);
      this.#bytes = this.#connection.bytes();
      return Number(changes);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const { database } = this.#connection;
    if (database.isOpen) {
      database.close();
      this.#mark.close();
    }
    this.#lock.release();
  }

  #attempt<Result>(verb: string, work: () => Result): Result {
    if (!this.#connection.database.isOpen) throw closedJournal(verb);
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, `${verb} the journal`, this.#path);
    }
  }

  /** Checks at most once a second. */
  #checkFiles(): void {
    const now = performance.now();
    if (now - this.#checkedAtMs < checkFilesEveryMs) return;
    if (!this.#connection.hasFile()) {
      throw new JournalUnavailable(
        `Cannot append to the journal "${this.#path}": its file is gone`,
      );
    }
    if (!this.#connection.hasLog()) this.#replaceLog();
    this.#checkedAtMs = now;
  }

  /** An idle broker appends nothing, so a timer checks too. */
  #checkFilesAlone(): void {
    try {
      this.#attempt("append to", () => this.#checkFiles());
    } catch {
      // The next append fails in the same way and reports it.
    }
  }

  /** The log was deleted. This process still has it open, so nothing is lost if it is saved now. */
  #replaceLog(): void {
    if (!this.#connection.saveLog()) {
      throw new JournalUnavailable(
        `Cannot append to the journal "${this.#path}": its write-ahead log is gone`,
        { hint: "End other programs that read the journal, so that the log can be saved" },
      );
    }
    this.#connection.database.close();
    this.#connection = new SqliteConnection(this.#path);
    const end = this.#connection.checkedEnd();
    this.#warn(
      `The write-ahead log "${this.#path}-wal" was deleted. All events were saved in the journal`,
    );
    if (end.head !== this.head) throw staleHead(this.head, end.head);
  }

  /**
   * The commit to start from to include this event. A reader may stop in the middle of a commit.
   */
  #commitWith(event: number): number {
    return Number(this.#connection.database.prepare(sql.commitWith).get(event)?.["seq"] ?? event);
  }

  #readPage(next: number): CheckedCommit[] {
    const page = this.#connection.page.all(next).map(commitFromArray);
    if (page.length > 0) return page;
    // No commit in reach means the end, unless so much was pruned that the oldest one is beyond it.
    const later = this.#connection.database.prepare(sql.nextCommit).get(next)?.["seq"] ?? null;
    if (later !== null) throw prunedEvents(next, Number(later));
    if (next <= this.head) throw damagedCommit(next, "it is missing");
    return page;
  }
}
