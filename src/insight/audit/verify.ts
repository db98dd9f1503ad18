/** Checks the chain of the audit: in the file of a server, running or not, or in an export. */
import {
  type Anchor,
  anchorText,
  type FiledEntry,
  hashOf,
  noHash,
  type StoredEntry,
} from "./chain.ts";
import type { AuditEntry } from "./entry.ts";

export interface AuditProblem {
  /** Such as `entry 12`. */
  readonly where: string;
  readonly what: string;
}

export interface AuditReport {
  readonly entries: number;
  readonly first: number | null;
  readonly last: Anchor | null;
  readonly problems: readonly AuditProblem[];
  /** Whether there are more problems than the list has. */
  readonly moreProblems: boolean;
  /** Whether the chain was compared with an anchor and has it. */
  readonly anchored: boolean;
  /** What a chain without problems does not show, and what would. */
  readonly unproved: readonly string[];
}

export interface VerifyOptions {
  readonly anchor?: Anchor | undefined;
  /** A part of a chain, so that nothing says why earlier entries are missing. */
  readonly isPart?: boolean;
}

const problemsMax = 100;

export class ChainCheck {
  readonly #options: VerifyOptions;
  readonly #problems: AuditProblem[] = [];
  #problemCount = 0;
  #entries = 0;
  #first: StoredEntry | undefined;
  #last: StoredEntry | undefined;
  #anchored: string | undefined;
  /** Where a chain begins that was started after the journal. */
  #startedAt: number | undefined;
  #recorded: number | null = null;
  /** The last of the entries that are known to be deleted. */
  #deleted: { readonly through: number; readonly hash: string } | undefined;

  constructor(options: VerifyOptions = {}) {
    this.#options = options;
  }

  add(entry: StoredEntry | FiledEntry): void {
    const where = `entry ${entry.number}`;
    const before = this.#last;
    this.#entries += 1;
    this.#first ??= entry;
    this.#last = entry;
    if (before !== undefined && entry.number !== before.number + 1) {
      this.report(where, `it follows entry ${before.number}: entries are missing or repeated`);
    } else if (before !== undefined && entry.previous !== before.hash) {
      this.report(where, `it does not continue entry ${before.number}`);
    }
    if (entry.number === 1 && entry.previous !== noHash) {
      this.report(where, "it is the first of a chain, but names an entry before it");
    }
    if (hashOf(entry.previous, entry.body) !== entry.hash) {
      this.report(where, "its text does not have its hash: it was changed");
    }
    if (entry.number === this.#options.anchor?.number) this.#anchored = entry.hash;
    this.#readBody(where, entry);
  }

  /**
   * The file says up to which event of the journal it has recorded; null: none. The server never deletes the last
   * entry, so a file that has recorded something has an entry.
   */
  expectRecorded(event: number | null): void {
    this.#recorded = event;
  }

  report(where: string, what: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < problemsMax) this.#problems.push({ where, what });
  }

  finish(): AuditReport {
    if (this.#first !== undefined && !this.#options.isPart) this.#checkStart(this.#first);
    if (this.#entries === 0 && this.#recorded !== null) {
      const what = `it has recorded the journal up to event ${this.#recorded}, but has no entries`;
      this.report("the file", `${what}: all of them are missing`);
    }
    const anchored = this.#checkAnchor();
    const last = this.#last;
    return {
      entries: this.#entries,
      first: this.#first?.number ?? null,
      last: last === undefined ? null : { number: last.number, hash: last.hash },
      problems: this.#problems,
      moreProblems: this.#problemCount > this.#problems.length,
      anchored,
      unproved: this.#unproved(anchored),
    };
  }

  #unproved(anchored: boolean): readonly string[] {
    const { anchor, isPart } = this.#options;
    if (this.#entries === 0) return ["anything: there are no entries"];
    const begin = this.#startedAt;
    return [
      ...(isPart ? ["that it has all entries: an export may be a part"] : []),
      ...(begin === undefined ? [] : [`what happened before event ${begin}: it begins there`]),
      anchored
        ? `that nothing was cut off after entry ${anchor?.number}, the anchor`
        : "that its end was not cut off, and that not all of it was written anew: compare with a noted anchor (--anchor)",
    ];
  }

  #readBody(where: string, { number, body, ...filed }: StoredEntry | FiledEntry): void {
    let entry: AuditEntry;
    try {
      entry = JSON.parse(body) as AuditEntry;
    } catch {
      return this.report(where, "its text is not JSON");
    }
    if (entry.number !== number) this.report(where, `its text says that it is ${entry.number}`);
    // Another time would keep it out of searches, or have it deleted as too old.
    if ("atMs" in filed && filed.atMs !== Date.parse(entry.at)) {
      this.report(where, `its text says ${entry.at}, and the file another time`);
    }
    const { through, hash, from } = entry.detail ?? {};
    if (entry.action === "audit-started" && Number(from) > 1) this.#startedAt = Number(from);
    if (entry.action !== "entries-deleted") return;
    this.#deleted = { through: Number(through), hash: String(hash) };
  }

  /** Entries before the first one must have been deleted by the server, which has recorded it. */
  #checkStart({ number, previous }: StoredEntry): void {
    if (number === 1) return;
    const { through = 0, hash = "" } = this.#deleted ?? {};
    const isTold = through >= number - 1;
    if (!isTold) this.report(`entry ${number}`, "entries before it are missing");
    else if (through === number - 1 && hash !== previous) {
      this.report(`entry ${number}`, "it does not continue the last entry that was deleted");
    }
  }

  #checkAnchor(): boolean {
    const { anchor } = this.#options;
    if (anchor === undefined) return false;
    // The entry after a deleted one still has its hash.
    const first = this.#first;
    const found =
      this.#anchored ?? (first?.number === anchor.number + 1 ? first.previous : undefined);
    if (found === anchor.hash) return true;
    const where = `anchor ${anchorText(anchor).slice(0, 30)}…`;
    if (found !== undefined) {
      const hint = "each server has a chain of its own, so use the anchor of this one";
      this.report(where, `the entry with its number has another hash (${hint})`);
    } else if (anchor.number > (this.#last?.number ?? 0)) {
      this.report(where, `the chain ends at entry ${this.#last?.number ?? 0}: its end is missing`);
    } else this.report(where, "its entry is no longer there, so nothing can be compared");
    return false;
  }
}
