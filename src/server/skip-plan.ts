/** Decides which events of a journal must be skipped, so that the others can be applied. */
import { apply } from "../core/apply/apply.ts";
import { emptyState } from "../core/apply/create.ts";
import { type FrozenState, thaw } from "../core/apply/snapshot.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { type CheckedCommit, CommitChain, damageHint } from "../journal/checksum.ts";
import { JournalUnusable, recordedAfter, type Snapshot } from "../journal/journal.ts";

/** An event that is skipped, with everything that is known about it. */
export interface SkippedEvent {
  readonly seq: number;
  readonly at: string;
  readonly why: string;
  /** Undefined if it cannot be read. */
  readonly event?: DurableEvent;
  /** The text of its commit, if that cannot be read. */
  readonly text?: string;
}

/** A commit in which some events are replaced. */
export interface PlannedCommit {
  readonly seq: number;
  readonly at: Instant;
  readonly events: DurableEvent[];
  /** An older Berth wrote it without a checksum. */
  readonly hasChecksum: boolean;
}

export interface SkipPlan {
  readonly commits: readonly PlannedCommit[];
  readonly skipped: readonly SkippedEvent[];
  /** Whether the snapshot is damaged. Its content follows from the events, which are complete. */
  readonly dropsSnapshot: boolean;
}

/** A journal with more damage than this has to be restored. */
const skippedMax = 10_000;
/** Each one that cannot be applied means that all are applied again. */
const unappliedMax = 100;

export class SkipPlanner {
  readonly #snapshot: Snapshot | undefined;
  readonly #dropsSnapshot: boolean;
  readonly #commits: PlannedCommit[] = [];
  readonly #skipped = new Map<number, SkippedEvent>();

  constructor(
    commits: readonly CheckedCommit[],
    snapshot: Snapshot | "damaged" | undefined,
    checksumsFrom: number,
  ) {
    this.#dropsSnapshot = snapshot === "damaged";
    this.#snapshot = snapshot === "damaged" ? undefined : snapshot;
    this.#readCommits(commits, new CommitChain(checksumsFrom));
  }

  /** Throws `JournalUnusable` if no state can be built from the rest. */
  plan(): SkipPlan {
    const from = this.#snapshot?.seq ?? 0;
    const first = this.#commits[0]?.seq ?? from + 1;
    if (first > from + 1) throw beyondRepair(`events ${from + 1} to ${first - 1} are missing`);
    let unapplied = 0;
    while (this.#skipFirstUnapplied(this.#stateAt(from), from, Number.POSITIVE_INFINITY)) {
      unapplied += 1;
      if (unapplied > unappliedMax) throw beyondRepair("too many events cannot be applied");
    }
    // The snapshot has the result of the events before it, so at most the first one is replaced.
    const isCovered = [...this.#skipped.keys()].some((seq) => seq <= from);
    if (first === 1 && !isCovered) this.#skipFirstUnapplied(emptyState(), 0, from);
    const skipped = [...this.#skipped.values()].sort((a, b) => a.seq - b.seq);
    return { commits: this.#commits, skipped, dropsSnapshot: this.#dropsSnapshot };
  }

  #readCommits(commits: readonly CheckedCommit[], chain: CommitChain): void {
    let next = commits[0]?.seq ?? 1;
    for (const [index, commit] of commits.entries()) {
      const damage = chain.damageOf(commit);
      if (commit.seq < next) throw beyondRepair(`event ${commit.seq} is there twice`);
      if (commit.seq > next) this.#addSkipped(next, commit.seq - next, commit, "it is missing");
      const follower = commits[index + 1]?.seq ?? commit.seq + commit.count;
      // After a gap the next commit follows another one, which says nothing about the commit itself.
      const isGap = commit.seq > next && damage === "it does not follow the commit before it";
      next = this.#addCommit(commit, isGap ? undefined : damage, follower);
    }
  }

  /** Returns the number of the event after the commit. */
  #addCommit(commit: CheckedCommit, damage: string | undefined, follower: number): number {
    const { seq, at } = commit;
    const hasChecksum = commit.checksum !== null;
    try {
      if (damage === undefined) {
        const events = [...recordedAfter(0, commit).events];
        this.#commits.push({ seq, at, events, hasChecksum });
        return seq + events.length;
      }
    } catch {
      // Its text is no list of events.
    }
    const why = `its commit is damaged (${damage ?? "it cannot be read"})`;
    this.#addSkipped(seq, follower - seq, commit, why, commit.events);
    return follower;
  }

  #addSkipped(
    seq: number,
    count: number,
    { at, checksum }: CheckedCommit,
    why: string,
    text?: string,
  ): void {
    if (count < 1 || this.#skipped.size + count > skippedMax) {
      throw beyondRepair(`more than ${skippedMax} events are damaged`);
    }
    const events: DurableEvent[] = [];
    for (let index = 0; index < count; index++) {
      const known = index === 0 && text !== undefined ? { text } : undefined;
      this.#skipped.set(seq + index, { seq: seq + index, at: timeOf(at), why, ...known });
      events.push({ type: "event-skipped", was: "unknown", why });
    }
    this.#commits.push({ seq, at, events, hasChecksum: checksum !== null });
  }

  /** A failed event may have changed a part of the state, so the caller starts with a new one. */
  #skipFirstUnapplied(state: State, after: number, upTo: number): boolean {
    for (const { seq, at, events } of this.#commits) {
      for (const [index, event] of events.entries()) {
        const number = seq + index;
        if (number <= after || number > upTo) continue;
        try {
          apply(state, event, at);
        } catch (cause) {
          const reason = cause instanceof Error ? cause.message : String(cause);
          const why = `it cannot be applied: ${reason}`;
          this.#skipped.set(number, { seq: number, at: timeOf(at), why, event });
          events[index] = { type: "event-skipped", was: event.type, why };
          return true;
        }
      }
    }
    return false;
  }

  #stateAt(seq: number): State {
    if (seq === 0 || this.#snapshot === undefined) return emptyState();
    return thaw(JSON.parse(this.#snapshot.state) as FrozenState);
  }
}

function beyondRepair(state: string): JournalUnusable {
  return new JournalUnusable(`Cannot skip events: ${state}`, damageHint);
}

/** A damaged time may be beyond what a date can show. */
export function timeOf(at: Instant): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : `time ${at}`;
}
