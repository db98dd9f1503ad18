import { randomBytes } from "node:crypto";
import type { DurableEvent } from "../core/model/event.ts";
import type { Instant } from "../core/model/time.ts";
import {
  closedJournal,
  type Journal,
  misplacedSnapshot,
  prunedEvents,
  type Recorded,
  recordedAfter,
  type Snapshot,
  type StoredCommit,
  staleHead,
  storedCommit,
} from "./journal.ts";

/**
 * The data that would be on the disk. It survives the journal object, as a disk survives a process.
 */
interface Kept {
  readonly commits: StoredCommit[];
  snapshot: Snapshot | undefined;
}

/**
 * A journal without a disk, for tests and simulations. It stores text, so that aliasing bugs show.
 */
export class MemoryJournal implements Journal {
  readonly secret: string;
  #kept: Kept = { commits: [], snapshot: undefined };
  #closed = false;

  constructor(secret: string = randomBytes(32).toString("base64url")) {
    this.secret = secret;
  }

  get head(): number {
    const last = this.#kept.commits.at(-1);
    return last ? last.seq + last.count - 1 : 0;
  }

  /**
   * Returns the journal that a later process would open, and closes this one, as if its process had
   * died.
   */
  reopen(): MemoryJournal {
    this.#closed = true;
    const next = new MemoryJournal(this.secret);
    next.#kept = this.#kept;
    return next;
  }

  async append(head: number, at: Instant, events: readonly DurableEvent[]): Promise<number> {
    this.#mustBeOpenTo("append to");
    const commit = storedCommit(head, at, events);
    if (head !== this.head) throw staleHead(head, this.head);
    if (commit.count > 0) this.#kept.commits.push(commit);
    return this.head;
  }

  async *read(seq: number): AsyncIterable<Recorded> {
    this.#mustBeOpenTo("read");
    let next = seq + 1;
    while (next <= this.head) {
      const page = this.#kept.commits.filter((commit) => commit.seq + commit.count > next);
      const oldest = page[0]?.seq ?? next;
      if (oldest > next) throw prunedEvents(next, oldest);
      for (const commit of page) {
        yield recordedAfter(seq, commit);
        this.#mustBeOpenTo("read");
        next = commit.seq + commit.count;
      }
    }
  }

  async search(text: string, from: number, to: number): Promise<readonly Recorded[]> {
    this.#mustBeOpenTo("search");
    return this.#kept.commits
      .filter(({ seq, count }) => seq <= to && seq + count > from)
      .filter(({ events }) => events.includes(text))
      .map((commit) => recordedAfter(0, commit));
  }

  async saveSnapshot(snapshot: Snapshot): Promise<void> {
    this.#mustBeOpenTo("save a snapshot in");
    const from = this.#kept.snapshot?.seq ?? 0;
    if (snapshot.seq < from || snapshot.seq > this.head) {
      throw misplacedSnapshot(snapshot, from, this.head);
    }
    this.#kept.snapshot = { ...snapshot };
  }

  async loadSnapshot(): Promise<Snapshot | undefined> {
    this.#mustBeOpenTo("load a snapshot from");
    return this.#kept.snapshot && { ...this.#kept.snapshot };
  }

  get bytes(): number {
    const { commits, snapshot } = this.#kept;
    return commits.reduce((sum, { events }) => sum + events.length, snapshot?.state.length ?? 0);
  }

  async prune(before: Instant, bytesMax = Number.POSITIVE_INFINITY): Promise<number> {
    this.#mustBeOpenTo("prune");
    const { commits, snapshot } = this.#kept;
    const covered = snapshot?.seq ?? 0;
    const last = commits.length - 1;
    let bytes = this.bytes;
    const firstKept = commits.findIndex(({ seq, count, at, events }, index) => {
      if (index === last || seq + count - 1 > covered) return true;
      if (at >= before && bytes <= bytesMax) return true;
      bytes -= events.length;
      return false;
    });
    const pruned = Math.max(0, firstKept);
    commits.splice(0, pruned);
    return pruned;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #mustBeOpenTo(verb: string): void {
    if (this.#closed) throw closedJournal(verb);
  }
}
