/** Checks the commits and the snapshot of a journal, whatever engine has them. */
import { apply } from "../core/apply/apply.ts";
import { emptyState } from "../core/apply/create.ts";
import { type FrozenState, thaw } from "../core/apply/snapshot.ts";
import type { State } from "../core/model/state.ts";
import { type CheckedCommit, CommitChain } from "../journal/checksum.ts";
import { type Recorded, recordedAfter, type Snapshot } from "../journal/journal.ts";
import { timeOf } from "./skip-plan.ts";

/** A journal with more damage than this is not repaired line by line. */
const problemsMax = 100;

export interface JournalProblem {
  /** Such as `events 12 to 14 (2031-02-03T04:05:06.000Z)`. */
  readonly where: string;
  readonly what: string;
}

export interface JournalContent {
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

/** A state that events are applied to, until one of them does not apply. */
interface Fold {
  readonly state: State;
  next: number;
  failed: boolean;
  /** There is a snapshot of later events, so a server does not apply these. */
  isCovered: boolean;
}

export class ContentCheck {
  readonly #problems: JournalProblem[] = [];
  readonly #folds: Fold[] = [{ state: emptyState(), next: 1, failed: false, isCovered: false }];
  #chain = new CommitChain(1);
  #problemCount = 0;
  #commits = 0;
  #withoutChecksum = 0;
  #first: number | null = null;
  #last: CheckedCommit | null = null;
  #snapshotSeq: number | null = null;

  get result(): JournalContent {
    return {
      commits: this.#commits,
      commitsWithoutChecksum: this.#withoutChecksum,
      firstEvent: this.#first,
      lastEvent: this.head,
      snapshotOfEvent: this.#snapshotSeq,
      problems: this.#problems,
      moreProblems: this.#problemCount > this.#problems.length,
    };
  }

  /** The last commit so far. */
  get last(): CheckedCommit | null {
    return this.#last;
  }

  get head(): number | null {
    return this.#last === null ? null : this.#last.seq + this.#last.count - 1;
  }

  /** From which event on commits must have a checksum; all unless told. */
  set checksumsFrom(seq: number) {
    this.#chain = new CommitChain(seq);
  }

  /** Must come before the commits. */
  checkSnapshot(snapshot: Snapshot | undefined): void {
    if (snapshot === undefined) return;
    this.#snapshotSeq = snapshot.seq;
    const state = thaw(JSON.parse(snapshot.state) as FrozenState);
    for (const fold of this.#folds) fold.isCovered = true;
    this.#folds.push({ state, next: snapshot.seq + 1, failed: false, isCovered: false });
  }

  checkCommit(commit: CheckedCommit): void {
    const where = describeCommit(commit);
    const expected = this.head;
    this.#commits += 1;
    if (commit.checksum === null) this.#withoutChecksum += 1;
    this.#first ??= commit.seq;
    this.#last = commit;
    if (expected === null && this.#snapshotSeq === null && commit.seq !== 1) {
      this.report(where, "the events before it are missing, and there is no snapshot of them");
    }
    if (expected !== null && commit.seq !== expected + 1) {
      this.report(where, `it follows event ${expected}: events are missing or repeated`);
    }
    const damage = this.#chain.damageOf(commit);
    if (damage !== undefined) this.report(where, damage);
    this.attempt(where, () => {
      const recorded = recordedAfter(0, commit);
      for (const fold of this.#folds) this.#applyTo(fold, recorded);
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
        this.report(`event ${fold.next} (${event.type})`, `it cannot be applied: ${why}`);
        return;
      }
      fold.next += 1;
    }
  }

  attempt(where: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.report(where, error instanceof Error ? error.message : String(error));
    }
  }

  report(where: string, what: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < problemsMax) this.#problems.push({ where, what });
  }
}

function describeCommit({ seq, count, at }: CheckedCommit): string {
  const events = count > 1 ? `events ${seq} to ${seq + count - 1}` : `event ${seq}`;
  return `${events} (${timeOf(at)})`;
}
