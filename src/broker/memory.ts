import { apply } from "../core/apply/apply.ts";
import { freeze } from "../core/apply/snapshot.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { State } from "../core/model/state.ts";
import type { Instant } from "../core/model/time.ts";
import { type Journal, JournalPruned, type Recorded } from "../journal/journal.ts";
import { type Recovered, recover } from "./recovery.ts";

/**
 * The state in memory, and how far in the journal it is. A decision changes the state, `append` makes
 * its events durable. If that fails, the state is ahead of the journal until `reload`.
 */
export class Memory {
  readonly #journal: Journal;
  #state: State;
  #head: number;
  #lastAt: Instant;
  #snapshotSeq: number;
  #bytesAtSnapshot: number;

  static async open(journal: Journal): Promise<Memory> {
    return new Memory(journal, await recover(journal));
  }

  private constructor(journal: Journal, { state, head, at, replayed }: Recovered) {
    this.#journal = journal;
    this.#state = state;
    this.#head = head;
    this.#lastAt = at;
    this.#snapshotSeq = head - replayed;
    this.#bytesAtSnapshot = journal.bytes;
  }

  get state(): State {
    return this.#state;
  }

  /** The number of the last event. */
  get head(): number {
    return this.#head;
  }

  /** The time of the last event that was read from the journal. `append` does not change it. */
  get lastAt(): Instant {
    return this.#lastAt;
  }

  /** Makes events durable that the state contains already. */
  async append(at: Instant, events: readonly DurableEvent[]): Promise<Recorded> {
    const seq = this.#head + 1;
    this.#head = await this.#journal.append(this.#head, at, events);
    return { seq, at, events };
  }

  /** Rejects as `append` does. */
  async probe(at: Instant): Promise<void> {
    await this.#journal.append(this.#head, at, []);
  }

  /** The commits of another server that the state does not contain yet. */
  unread(): AsyncIterable<Recorded> {
    return this.#journal.read(this.#head);
  }

  applyCommit(recorded: Recorded): void {
    for (const event of recorded.events) apply(this.#state, event, recorded.at);
    this.#lastAt = recorded.at;
    this.#head = lastSeqOf(recorded);
  }

  /**
   * Replaces the state with that of the journal. A commit that failed may still be there: `publish` is
   * called for every commit that it was not called for yet. Returns whether all of them are still in
   * the journal.
   */
  async reload(publish: (recorded: Recorded) => void): Promise<boolean> {
    const { state, head, at } = await recover(this.#journal);
    // The old state had events that were not committed: nobody may see it any more.
    this.#state = state;
    let isComplete = true;
    try {
      for await (const recorded of this.unread()) {
        if (recorded.seq > head) break;
        this.#head = lastSeqOf(recorded);
        publish(recorded);
      }
    } catch (cause) {
      if (!(cause instanceof JournalPruned)) throw cause;
      isComplete = false;
    }
    this.#head = head;
    this.#lastAt = at;
    return isComplete;
  }

  get hasNewEvents(): boolean {
    return this.#head > this.#snapshotSeq;
  }

  isSnapshotDue(everyEvents: number, everyBytes: number): boolean {
    if (this.#head - this.#snapshotSeq >= everyEvents) return true;
    return this.#journal.bytes - this.#bytesAtSnapshot >= everyBytes;
  }

  async saveSnapshot(at: Instant): Promise<void> {
    const seq = this.#head;
    // A failed snapshot counts as taken, so that the broker tries again after a whole interval and
    // not after every commit.
    this.#snapshotSeq = seq;
    await this.#journal.saveSnapshot({ seq, at, state: JSON.stringify(freeze(this.#state)) });
    this.#bytesAtSnapshot = this.#journal.bytes;
  }

  /** Another server has taken snapshots that this one does not know of. */
  assumeSnapshot(eventsAgo: number): void {
    this.#snapshotSeq = Math.max(this.#snapshotSeq, this.#head - eventsAgo);
    this.#bytesAtSnapshot = this.#journal.bytes;
  }
}

function lastSeqOf({ seq, events }: Recorded): number {
  return seq + events.length - 1;
}
