import type { Journal, Recorded } from "../../journal/journal.ts";
import {
  type Derived,
  type Followed,
  type FollowOptions,
  JournalFollower,
} from "../follow/journal-follower.ts";
import { type KnownState, lastSnapshot, oldestKnown } from "../follow/oldest-known.ts";
import { OpenWithRetries, type RetryOptions } from "../follow/open-with-retries.ts";
import type { AttemptLimits } from "./attempts.ts";
import { Attempts } from "./attempts.ts";
import type { Anchor } from "./chain.ts";
import type { AuditFacts } from "./entry.ts";
import { AuditFold } from "./fold.ts";
import type { AuditStore } from "./store.ts";

/** The audit exists but is not readable at present. Grants are not affected. */
export class AuditUnavailable extends Error {
  override readonly name = "AuditUnavailable";
}

type ReadJournal = Pick<Journal, "read" | "loadSnapshot">;

export interface AuditOptions extends Partial<FollowOptions>, Pick<RetryOptions, "retryMs"> {
  /** Entries that are older than this are deleted, in whole days. */
  readonly retentionMs?: number | undefined;
  /** Identifies the journal; absent if there can be only one. */
  readonly journalId?: string | undefined;
  readonly attempts?: AttemptLimits | undefined;
  /** Called with the last entry: after the start, once an hour if there is a new one, at the end. */
  readonly anchor?: ((anchor: Anchor) => void) | undefined;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
export const auditRetentionMsDefault = 365 * dayMs;

/** The audit of a server. */
export class Audit {
  readonly #followed: Followed;
  readonly #refusedCalls: Attempts;
  readonly #refusedSignIns: Attempts;
  readonly #file: OpenWithRetries<{
    readonly follower: JournalFollower;
    readonly derived: DerivedAudit;
  }>;

  constructor(
    open: () => AuditStore,
    journal: ReadJournal,
    followed: Followed,
    options: AuditOptions = {},
  ) {
    this.#followed = followed;
    this.#refusedCalls = new Attempts(options.attempts);
    this.#refusedSignIns = new Attempts(options.attempts);
    const openFile = () => {
      const store = open();
      try {
        const derived = new DerivedAudit(store, journal, followed, options);
        return { derived, follower: new JournalFollower(derived, journal, followed, options) };
      } catch (error) {
        store.close();
        throw error;
      }
    };
    this.#file = new OpenWithRetries(openFile, followed, options);
  }

  /** The number of events that are not recorded yet. */
  get lag(): number {
    return this.#file.lag;
  }

  /** The last entry that survives a power cut. Throws `AuditUnavailable`. */
  get head(): Anchor {
    return this.#derived.store.synced;
  }

  /** Throws `AuditUnavailable` while the audit is not open. */
  mustBeOpen(): void {
    void this.#derived;
  }

  get store(): AuditStore {
    return this.#derived.store;
  }

  /** Records an attempt that was refused, unless there were too many. Never throws. */
  attempted(facts: AuditFacts & { readonly action: "call-refused" | "sign-in-refused" }): void {
    const attempts = facts.action === "call-refused" ? this.#refusedCalls : this.#refusedSignIns;
    const now = this.#followed.now();
    const entry = attempts.add(facts, now);
    const { state } = this.#file;
    if (entry === undefined || state instanceof Error) return;
    state.derived.note(now, entry);
    state.follower.wake();
  }

  /** Resolves once the audit contains every event that is committed now, on disk. */
  async caughtUp(): Promise<void> {
    await (await this.#file.whenOpen).follower.onDisk();
  }

  async close(): Promise<void> {
    await this.#file.stop()?.follower.close();
  }

  get #derived(): DerivedAudit {
    const { state } = this.#file;
    if (!(state instanceof Error)) return state.derived;
    throw new AuditUnavailable(state.message, { cause: state });
  }
}

class DerivedAudit implements Derived {
  readonly store: AuditStore;
  readonly #journal: ReadJournal;
  readonly #followed: Followed;
  readonly #options: AuditOptions;
  #fold: AuditFold;
  /** The id of the journal that the store was written from; undefined once it was checked. */
  #uncheckedJournal: string | undefined;
  #reached: number;
  #unsaved = 0;
  /** Attempts before the chain was begun or continued, which comes first. */
  #early: { readonly at: number; readonly facts: AuditFacts }[] = [];
  /** The last entry that is being deleted. */
  #forgetThrough = 0;
  #anchored = 0;
  #anchorAt = 0;

  constructor(store: AuditStore, journal: ReadJournal, followed: Followed, options: AuditOptions) {
    this.store = store;
    this.#journal = journal;
    this.#followed = followed;
    this.#options = options;
    const standing = store.load();
    this.#fold = new AuditFold(standing);
    this.#uncheckedJournal = standing.journal;
    this.#reached = store.seq;
  }

  get stored(): number {
    return this.store.seq;
  }

  get reached(): number {
    return this.#reached;
  }

  get unsaved(): number {
    return this.#unsaved;
  }

  get isPrepared(): boolean {
    return this.#uncheckedJournal === undefined;
  }

  /** Journal and audit are two files, so one of them may be new, or an older copy. */
  async prepare(): Promise<void> {
    const writtenFrom = this.#uncheckedJournal ?? "";
    const { journalId = "the journal" } = this.#options;
    if (writtenFrom !== journalId) {
      const known = await oldestKnown(this.#journal, this.#followed.now());
      const isNew = this.store.last.number === 0;
      this.#restart(known, isNew ? "audit-started" : "journal-replaced", journalId);
    } else if (this.#reached > this.#followed.head) {
      await this.#rewind();
    }
    this.#uncheckedJournal = undefined;
    for (const { at, facts } of this.#early.splice(0)) this.note(at, facts);
  }

  follow(recorded: Recorded): void {
    this.#fold.follow(recorded);
    this.#reached = recorded.seq + recorded.events.length - 1;
    this.#unsaved += recorded.events.length;
  }

  note(at: number, facts: AuditFacts): void {
    if (!this.isPrepared) {
      this.#early.push({ at, facts });
      return;
    }
    this.#fold.note(at, facts);
    this.#unsaved += 1;
  }

  save(journal?: string): void {
    this.store.save(this.#reached, this.#fold.take(), this.#fold.open, journal);
    this.#unsaved = 0;
  }

  /** One sync for all slices of a run, so that an entry that was shown to somebody stays. */
  afterRun(): void {
    this.sync();
    const now = this.#followed.now();
    if (now < this.#anchorAt) return;
    this.#anchorAt = now + hourMs;
    this.#tellAnchor();
  }

  /** Refused attempts that were not stored yet are lost. */
  reload(): void {
    this.#early = [];
    this.#unsaved = 0;
    this.#fold = new AuditFold(this.store.load());
    this.#reached = this.store.seq;
  }

  async startOver(): Promise<void> {
    const known = await lastSnapshot(this.#journal, this.#followed.now());
    if (known.seq > this.#reached) this.#restart(known, "events-missing");
  }

  /** In whole days of UTC, so that there is one `entries-deleted` per day. */
  forget(now: number): boolean {
    const { retentionMs = auditRetentionMsDefault } = this.#options;
    if (this.#forgetThrough === 0) {
      const before = Math.floor((now - retentionMs) / dayMs) * dayMs;
      const last = this.store.lastBefore(before);
      if (last === undefined) return false;
      const detail = { through: last.number, hash: last.hash };
      this.note(now, { action: "entries-deleted", way: "clock", detail });
      this.save();
      this.#forgetThrough = last.number;
    }
    if (this.store.forget(this.#forgetThrough)) return true;
    this.#forgetThrough = 0;
    return false;
  }

  sync(): void {
    this.store.sync();
  }

  close(): void {
    this.#tellAnchor();
    this.store.close();
  }

  #tellAnchor(): void {
    const { synced } = this.store;
    if (synced.number === this.#anchored) return;
    this.#anchored = synced.number;
    this.#options.anchor?.(synced);
  }

  #restart(
    { state, at, seq }: KnownState,
    action: "audit-started" | "journal-replaced" | "events-missing",
    journal?: string,
  ): void {
    const writtenAt = new Date(this.#followed.now()).toISOString();
    const detail = { after: this.#reached, from: seq + 1, writtenAt };
    this.#fold.startOver(state);
    // The time of the events that follow: retention goes by the times of the oldest entries.
    this.#fold.note(at, { action, way: "clock", detail });
    this.#reached = seq;
    this.save(journal);
  }

  /** The journal is an older copy of itself. What it has is recorded; what it lost has happened. */
  async #rewind(): Promise<void> {
    const after = this.#reached;
    const { state, seq } = await lastSnapshot(this.#journal, this.#followed.now());
    this.#fold.startOver(state);
    this.#reached = seq;
    for await (const recorded of this.#journal.read(seq)) {
      this.#fold.follow(recorded);
      this.#reached = recorded.seq + recorded.events.length - 1;
    }
    const changes = this.#fold.take();
    const detail = { after, from: this.#reached + 1 };
    const facts = { action: "journal-replaced", way: "clock", detail } as const;
    const entries = [{ at: this.#followed.now(), facts }];
    this.store.save(this.#reached, { ...changes, entries }, this.#fold.open);
  }
}
