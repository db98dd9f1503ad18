/** Verifies the journal of a stopped server, without changing it. */
import { DatabaseSync } from "node:sqlite";
import { apply } from "../core/apply/apply.ts";
import { emptyState } from "../core/apply/create.ts";
import { type FrozenState, thaw } from "../core/apply/snapshot.ts";
import type { State } from "../core/model/state.ts";
import { type CheckedCommit, CommitChain } from "../journal/checksum.ts";
import { FolderLock } from "../journal/folder-lock.ts";
import { missingEnd, otherEnd, readHeadMark } from "../journal/head-mark.ts";
import { JournalUnavailable, type Recorded, recordedAfter } from "../journal/journal.ts";
import { applicationId, checksumVersion } from "../journal/migrations.ts";
import { journalPath } from "../journal/sqlite.ts";
import { commitFrom, readChecksumsFrom, readSecret, readSnapshot } from "../journal/sqlite-rows.ts";
import { sql, withoutChecksums } from "../journal/sqlite-statements.ts";
import { timeOf } from "./skip-plan.ts";

/** A file with more damage than this is not repaired line by line. */
const problemsMax = 100;

export interface JournalProblem {
  /** Such as `events 12 to 14 (2031-02-03T04:05:06.000Z)`. */
  readonly where: string;
  readonly what: string;
}

export interface JournalReport {
  readonly file: string;
  readonly commits: number;
  /** Commits of an older Berth, which wrote no checksums. */
  readonly commitsWithoutChecksum: number;
  readonly firstEvent: number | null;
  readonly lastEvent: number | null;
  readonly snapshotOfEvent: number | null;
  readonly problems: readonly JournalProblem[];
  /** Whether there are more problems than the list has. */
  readonly moreProblems: boolean;
}

/** Throws `JournalUnusable` if a server uses the folder. */
export async function checkJournal(folder: string): Promise<JournalReport> {
  const lock = lockIfWritable(folder);
  try {
    return new JournalCheck(folder).run();
  } finally {
    lock?.release();
  }
}

/** On a read-only disk no server can run, so no lock is needed. */
function lockIfWritable(folder: string): FolderLock | undefined {
  try {
    return FolderLock.take(folder);
  } catch (error) {
    if (error instanceof JournalUnavailable) return undefined;
    throw error;
  }
}

/** A state that events are applied to, until one of them does not apply. */
interface Fold {
  readonly state: State;
  next: number;
  failed: boolean;
  /** There is a snapshot of later events, so a server does not apply these. */
  isCovered: boolean;
}

class JournalCheck {
  readonly #folder: string;
  readonly #path: string;
  readonly #problems: JournalProblem[] = [];
  #problemCount = 0;
  #commits = 0;
  #withoutChecksum = 0;
  #first: number | null = null;
  #last: CheckedCommit | null = null;
  #snapshotSeq: number | null = null;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = journalPath(folder);
  }

  run(): JournalReport {
    this.#try("the file", () => {
      using database = new DatabaseSync(this.#path, { readOnly: true });
      const version = this.#checkFile(database);
      if (version !== undefined) this.#checkContent(database, version >= checksumVersion);
    });
    this.#checkEnd();
    return {
      file: this.#path,
      commits: this.#commits,
      commitsWithoutChecksum: this.#withoutChecksum,
      firstEvent: this.#first,
      lastEvent: this.#head(),
      snapshotOfEvent: this.#snapshotSeq,
      problems: this.#problems,
      moreProblems: this.#problemCount > this.#problems.length,
    };
  }

  /** Returns the version of the schema; undefined if the file is not a journal. */
  #checkFile(database: DatabaseSync): number | undefined {
    if (database.prepare("PRAGMA application_id").get()?.["application_id"] !== applicationId) {
      this.#report("the file", "it is not a journal");
      return undefined;
    }
    for (const row of database.prepare("PRAGMA integrity_check(20)").iterate()) {
      const text = String(row["integrity_check"]);
      if (text !== "ok") this.#report("the file", text.trim());
    }
    return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  }

  #checkContent(database: DatabaseSync, hasChecksums: boolean): void {
    let checksumsFrom = Number.POSITIVE_INFINITY;
    if (hasChecksums) {
      this.#try("the secret", () => readSecret(database, this.#path));
      this.#try("the table meta", () => {
        checksumsFrom = readChecksumsFrom(database, this.#path);
      });
    }
    const statement = (text: string) => (hasChecksums ? text : withoutChecksums(text));
    const fromStart = { state: emptyState(), next: 1, failed: false, isCovered: false };
    const folds: Fold[] = [fromStart];
    this.#try("the snapshot", () => {
      const snapshot = readSnapshot(database, checksumsFrom, statement(sql.loadSnapshot));
      if (snapshot === undefined) return;
      this.#snapshotSeq = snapshot.seq;
      const state = thaw(JSON.parse(snapshot.state) as FrozenState);
      folds.push({ state, next: snapshot.seq + 1, failed: false, isCovered: false });
      fromStart.isCovered = true;
    });
    const chain = new CommitChain(checksumsFrom);
    this.#try("the commits", () => {
      for (const row of database.prepare(statement(sql.allCommits)).iterate()) {
        this.#checkCommit(commitFrom(row), chain, folds);
      }
    });
  }

  #checkCommit(commit: CheckedCommit, chain: CommitChain, folds: readonly Fold[]): void {
    const where = describeCommit(commit);
    const expected = this.#head();
    this.#commits += 1;
    if (commit.checksum === null) this.#withoutChecksum += 1;
    this.#first ??= commit.seq;
    this.#last = commit;
    if (expected === null && this.#snapshotSeq === null && commit.seq !== 1) {
      this.#report(where, "the events before it are missing, and there is no snapshot of them");
    }
    if (expected !== null && commit.seq !== expected + 1) {
      this.#report(where, `it follows event ${expected}: events are missing or repeated`);
    }
    const damage = chain.damageOf(commit);
    if (damage !== undefined) this.#report(where, damage);
    this.#try(where, () => {
      const recorded = recordedAfter(0, commit);
      for (const fold of folds) this.#applyTo(fold, recorded);
    });
  }

  /** Events that follow one that does not apply would only fail because of it. */
  #applyTo(fold: Fold, { seq, at, events }: Recorded): void {
    if (fold.failed || seq + events.length <= fold.next) return;
    if (seq > fold.next) {
      fold.failed = true; // These events were pruned, or the gap is reported already.
      return;
    }
    for (const event of events.slice(fold.next - seq)) {
      if (event.type === "event-skipped" && fold.isCovered) {
        fold.failed = true; // Later events may depend on what the snapshot has instead.
        return;
      }
      try {
        apply(fold.state, event, at);
      } catch (cause) {
        fold.failed = true;
        const why = cause instanceof Error ? cause.message : String(cause);
        this.#report(`event ${fold.next} (${event.type})`, `it cannot be applied: ${why}`);
        return;
      }
      fold.next += 1;
    }
  }

  #checkEnd(): void {
    const mark = readHeadMark(this.#folder);
    if (mark === undefined) return;
    const head = this.#head() ?? 0;
    if (head < mark.head) {
      this.#report("the end", missingEnd(this.#folder, this.#path, head, mark).message);
    } else if (head === mark.head && (this.#last?.checksum ?? null) !== mark.checksum) {
      this.#report("the end", otherEnd(this.#folder, this.#path, mark).message);
    }
  }

  #head(): number | null {
    return this.#last === null ? null : this.#last.seq + this.#last.count - 1;
  }

  #try(where: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#report(where, error instanceof Error ? error.message : String(error));
    }
  }

  #report(where: string, what: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < problemsMax) this.#problems.push({ where, what });
  }
}

function describeCommit({ seq, count, at }: CheckedCommit): string {
  const events = count > 1 ? `events ${seq} to ${seq + count - 1}` : `event ${seq}`;
  return `${events} (${timeOf(at)})`;
}
