import { crc32 } from "node:zlib";
import type { Snapshot, StoredCommit } from "./journal.ts";
import { JournalUnusable } from "./journal.ts";

/**
 * A commit with its checksum (CRC-32) and that of the commit before it. A commit that an older Berth
 * wrote has neither. The first commit with a checksum follows checksum 0.
 */
export interface CheckedCommit extends StoredCommit {
  readonly previous: number | null;
  readonly checksum: number | null;
}

export function commitChecksum(previous: number, commit: StoredCommit): number {
  const { seq, at, count, events } = commit;
  return crc32(events, crc32(`commit ${previous} ${seq} ${at} ${count} `));
}

export function snapshotChecksum({ seq, at, state }: Snapshot): number {
  return crc32(state, crc32(`snapshot ${seq} ${at} `));
}

export function secretChecksum(secret: string): number {
  return crc32(secret, crc32("secret "));
}

/**
 * Checks commits in the order in which they are read: each against its own checksum, and against the
 * checksum of the commit before it, so that a commit of another journal is noticed too.
 */
export class CommitChain {
  readonly #checksumsFrom: number;
  #last: number | undefined;

  /** `checksumsFrom`: the first event whose commit must have a checksum. */
  constructor(checksumsFrom: number) {
    this.#checksumsFrom = checksumsFrom;
  }

  /** Throws `JournalUnusable` if the commit is damaged. */
  check(commit: CheckedCommit): void {
    const damage = this.damageOf(commit);
    if (damage !== undefined) throw damagedCommit(commit.seq, damage);
  }

  /** Describes the damage; undefined if there is none. */
  damageOf(commit: CheckedCommit): string | undefined {
    const { seq, previous, checksum } = commit;
    const last = this.#last;
    this.#last = checksum ?? 0;
    if (checksum === null || previous === null) {
      return seq >= this.#checksumsFrom ? "it has no checksum" : undefined;
    }
    if (commitChecksum(previous, commit) !== checksum) return "its checksum does not match";
    return last === undefined || previous === last
      ? undefined
      : "it does not follow the commit before it";
  }
}

export const damageHint =
  "List the damage with: berth journal check; then restore the data folder from a backup";

export function damagedCommit(seq: number, damage: string, cause?: unknown): JournalUnusable {
  return new JournalUnusable(
    `Cannot read event ${seq} of the journal: its commit is damaged (${damage})`,
    damageHint,
    { cause },
  );
}
