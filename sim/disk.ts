/**
 * A disk with a journal, which outlives the servers that write to it. It can be full, slow, or
 * crash in the middle of a commit: then chance decides whether the commit was made.
 */
import type { DurableEvent } from "../src/core/model/event.ts";
import type { Instant } from "../src/core/model/time.ts";
import type { Random } from "../src/insight/forecast/random.ts";
import {
  type Journal,
  JournalUnavailable,
  type Recorded,
  type Snapshot,
} from "../src/journal/journal.ts";
import type { OpenStorage, Storage } from "./server.ts";
import type { World } from "./world.ts";

/** Bugs of a journal, planted to see whether the simulator finds them. */
export interface DiskBugs {
  readonly loseTail?: boolean;
  readonly applyTwice?: boolean;
  readonly acknowledgeEarly?: boolean;
  readonly forgetFences?: boolean;
}

export class Disk implements Storage {
  readonly commits: { readonly seq: number; readonly at: Instant; readonly text: string }[] = [];
  readonly #world: World;
  readonly #random: Random;
  readonly bugs: DiskBugs;
  snapshot: Snapshot | undefined;
  full = false;
  /** Syncs fail at random, and then it is unknown whether the commit was made. */
  flaky = false;
  unreadable = false;
  /** The longest time of a sync. */
  syncMsMax = 20;
  head = 0;
  /** Grows with every answer to a server. */
  answers = 0;
  /** Grows with every crash. Writes of an older server are dropped. */
  #epoch = 0;
  #inFlight: (() => void) | undefined;

  constructor(world: World, random: Random, bugs: DiskBugs) {
    this.#world = world;
    this.#random = random;
    this.bugs = bugs;
  }

  /** A power failure. A running commit may or may not be on the disk. */
  crash(): void {
    this.#epoch += 1;
    if (this.#random.chance(0.5)) this.#inFlight?.();
    this.#inFlight = undefined;
    if (this.bugs.loseTail && this.commits.length > 0 && (this.snapshot?.seq ?? 0) < this.head) {
      const lost = this.commits.pop();
      this.head = (lost?.seq ?? 1) - 1;
    }
  }

  async open(): Promise<OpenStorage> {
    return { journal: this.#journal() };
  }

  #journal(): Journal {
    const epoch = this.#epoch;
    const disk = this;
    const alive = <T>(value: T): Promise<T> =>
      epoch === disk.#epoch ? Promise.resolve(value) : new Promise(() => {});
    return {
      secret: "simulated",
      get head() {
        return disk.head;
      },
      append: (head, at, events) => disk.#append(epoch, head, at, events),
      async *read(seq) {
        disk.#mustBeReadable();
        for (const recorded of disk.#read(seq)) yield await alive(recorded);
      },
      // Only the stats thread searches, and the simulator has none.
      search: () => Promise.reject(new Error("Cannot search a simulated disk")),
      saveSnapshot(snapshot) {
        if (epoch === disk.#epoch)
          disk.snapshot = disk.bugs.forgetFences ? withoutFences(snapshot) : snapshot;
        return alive(undefined);
      },
      async loadSnapshot() {
        disk.#mustBeReadable();
        return await alive(disk.snapshot);
      },
      bytes: 0,
      prune: () => alive(0),
      close: () => Promise.resolve(),
    };
  }

  #mustBeReadable(): void {
    if (this.unreadable) throw new JournalUnavailable("Cannot read: the disk is failing");
  }

  /** Everything that is on the disk, oldest first. */
  *#read(seq: number): Generator<Recorded> {
    for (const [index, commit] of this.commits.entries()) {
      const events = JSON.parse(commit.text) as DurableEvent[];
      if (commit.seq + events.length - 1 <= seq) continue;
      const skipped = Math.max(0, seq + 1 - commit.seq);
      const recorded = { seq: commit.seq + skipped, at: commit.at, events: events.slice(skipped) };
      yield recorded;
      if (this.bugs.applyTwice && index === this.commits.length - 1) yield recorded;
    }
  }

  #append(
    epoch: number,
    head: number,
    at: Instant,
    events: readonly DurableEvent[],
  ): Promise<number> {
    const text = JSON.stringify(events);
    const write = (): void => {
      if (events.length === 0) return;
      this.commits.push({ seq: head + 1, at, text });
      this.head = head + events.length;
    };
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        if (epoch !== this.#epoch) return; // The server that waits for this is dead.
        this.#inFlight = undefined;
        this.answers += 1;
        if (this.full) return reject(new JournalUnavailable("Cannot append: the disk is full"));
        if (this.flaky && this.#random.chance(0.5)) {
          if (this.#random.chance(0.5)) write();
          return reject(new JournalUnavailable("Cannot append: the sync failed"));
        }
        if (head !== this.head)
          return reject(new Error(`Cannot append after ${head}: the head is ${this.head}`));
        write();
        if (!this.bugs.acknowledgeEarly) resolve(this.head);
      };
      this.#inFlight = this.full ? undefined : write;
      this.#world.after(this.#random.between(0, this.syncMsMax), finish);
      if (this.bugs.acknowledgeEarly && !this.full) resolve(head + events.length);
    });
  }
}

function withoutFences(snapshot: Snapshot): Snapshot {
  return { ...snapshot, state: JSON.stringify({ ...JSON.parse(snapshot.state), fence: 0 }) };
}
