import type { Journal, Recorded } from "../../journal/journal.ts";
import {
  type Derived,
  defaultFollowOptions,
  type Followed,
  type FollowOptions,
  JournalFollower,
} from "../follow/journal-follower.ts";
import { lastSnapshot, oldestKnown } from "../follow/oldest-known.ts";
import type { HistoryEntry } from "./entry.ts";
import { HistoryFold } from "./fold.ts";
import type { HistoryStore } from "./store.ts";
import type { Upkeep } from "./upkeep-fold.ts";

export interface FollowerOptions extends FollowOptions {
  /** Entries that ended longer ago than this are deleted. */
  readonly retentionMs: number;
  /** Identifies the journal; absent if there can be only one. */
  readonly journalId?: string | undefined;
  /** Called with the finished entries once they are stored. */
  readonly ended: (entries: readonly HistoryEntry[], upkeep: readonly Upkeep[]) => void;
}

/** A lease that begins and ends within `everyMs` is written once. */
export const defaultFollowerOptions: FollowerOptions = {
  ...defaultFollowOptions,
  retentionMs: 90 * 24 * 3_600_000,
  ended: () => {},
};

type ReadJournal = Pick<Journal, "read" | "loadSnapshot">;

/** Keeps the history up to date with the journal. */
export class HistoryFollower extends JournalFollower {
  constructor(
    store: HistoryStore,
    journal: ReadJournal,
    followed: Followed,
    options: Partial<FollowerOptions> = {},
  ) {
    const all = { ...defaultFollowerOptions, ...options };
    super(new DerivedHistory(store, journal, followed, all), journal, followed, all);
  }
}

class DerivedHistory implements Derived {
  readonly #store: HistoryStore;
  readonly #journal: ReadJournal;
  readonly #followed: Followed;
  readonly #options: FollowerOptions;
  #fold: HistoryFold;
  /** The id of the journal that the store was written from; undefined once it was checked. */
  #uncheckedJournal: string | undefined;
  /** False: an older Berth wrote the store, without the capacities of shared resources. */
  #hasCapacities: boolean;
  #reached: number;
  #unsaved = 0;

  constructor(
    store: HistoryStore,
    journal: ReadJournal,
    followed: Followed,
    options: FollowerOptions,
  ) {
    this.#store = store;
    this.#journal = journal;
    this.#followed = followed;
    this.#options = options;
    const standing = store.load();
    this.#fold = new HistoryFold(standing);
    this.#uncheckedJournal = standing.journal;
    this.#hasCapacities = standing.hasCapacities;
    this.#reached = store.seq;
  }

  get stored(): number {
    return this.#store.seq;
  }

  get reached(): number {
    return this.#reached;
  }

  get unsaved(): number {
    return this.#unsaved;
  }

  /** Whether the store belongs to the journal and has all that this version records. */
  get isPrepared(): boolean {
    return this.#uncheckedJournal === undefined && this.#hasCapacities;
  }

  async prepare(): Promise<void> {
    if (this.#uncheckedJournal !== undefined) await this.#matchJournal(this.#uncheckedJournal);
    if (!this.#hasCapacities) await this.#learnCapacities();
  }

  follow(recorded: Recorded): void {
    this.#fold.follow(recorded);
    this.#reached = recorded.seq + recorded.events.length - 1;
    this.#unsaved += recorded.events.length;
  }

  save(): void {
    const changes = this.#fold.take();
    this.#store.save(this.#reached, changes, this.#fold.open);
    this.#unsaved = 0;
    this.#options.ended(changes.ended, changes.upkeep);
  }

  reload(): void {
    this.#unsaved = 0;
    this.#fold = new HistoryFold(this.#store.load());
    this.#reached = this.#store.seq;
  }

  async startOver(): Promise<void> {
    const { state, at, seq } = await lastSnapshot(this.#journal, this.#followed.now());
    if (seq <= this.#reached) return;
    this.#fold.startOver(state, at);
    this.#reached = seq;
    this.save();
  }

  forget(now: number): boolean {
    return this.#store.forget(now - this.#options.retentionMs);
  }

  sync(): void {
    this.#store.sync();
  }

  close(): void {
    this.#store.close();
  }

  /**
   * Journal and history are two files, so one of them may have been replaced by a backup or an
   * empty file. Finished entries stay, because they happened. Open entries and pool sizes come from
   * the journal.
   */
  async #matchJournal(writtenFrom: string): Promise<void> {
    const { journalId = writtenFrom } = this.#options;
    if (writtenFrom !== "" && writtenFrom !== journalId) {
      const { state, at, seq } = await oldestKnown(this.#journal, this.#followed.now());
      this.#fold.startOver(state, at);
      this.#reached = seq;
      this.save();
    } else if (this.#reached > this.#followed.head) await this.#rewind();
    if (writtenFrom !== journalId) this.#store.nameJournal(journalId);
    this.#uncheckedJournal = undefined;
  }

  /** From the snapshot, because the events that added the resources may be pruned, and later events. */
  async #learnCapacities(): Promise<void> {
    if (this.#reached > 0) {
      const now = this.#followed.now();
      const { state, seq: snapshotSeq } = await lastSnapshot(this.#journal, now);
      for (const { name, ...resource } of state.resources.values()) {
        if (resource.sharing === "shared") this.#fold.learnCapacity(name, resource.spec, now);
      }
      for await (const { seq, events } of this.#journal.read(snapshotSeq)) {
        if (seq > this.#reached) break;
        for (const event of events) {
          if (!("room" in event) || event.room === undefined) continue;
          this.#fold.learnCapacity(event.resource, event.room, now);
        }
      }
      this.save();
    }
    this.#store.nameSharedPools(this.#fold.sharedPools);
    this.#hasCapacities = true;
  }

  /** History is ahead of an older journal, so it already contains the events of that journal. */
  async #rewind(): Promise<void> {
    const { state, at, seq } = await lastSnapshot(this.#journal, this.#followed.now());
    this.#fold.startOver(state, at);
    this.#reached = seq;
    for await (const recorded of this.#journal.read(this.#reached)) {
      this.#fold.follow(recorded);
      this.#reached = recorded.seq + recorded.events.length - 1;
    }
    const changes = { ...this.#fold.take(), ended: [], upkeep: [] };
    this.#store.save(this.#reached, changes, this.#fold.open);
  }
}
