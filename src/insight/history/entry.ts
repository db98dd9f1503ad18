/**
 * What history keeps: one entry for each claim of a lease, or for each pool that was asked for where
 * nothing was ever granted. Flat, because people ask by pool and by resource; the entries of one
 * request share its id.
 */
export interface HistoryEntry {
  /** Counts up with the order of the ends, so it is a cursor that time only adds to. */
  readonly number: number;
  readonly id: string;
  /** Null where nothing was granted. */
  readonly claim: string | null;
  readonly holder: string;
  readonly space: string;
  readonly pool: string;
  readonly resource: string | null;
  /** How many were asked for where nothing was granted; otherwise 1. */
  readonly count: number;
  readonly priority: number;
  readonly askedAt: number;
  /** Number of the event with which it came: the order of those of one millisecond. */
  readonly askedSeq: number;
  readonly grantedAt: number | null;
  /** What it waited for last; null: it did not wait, or nobody can tell. */
  readonly waitedFor: string | null;
  readonly endedAt: number;
  /** `released`, `expired`, `hold`, `cancelled`, … as the event said. */
  readonly how: string;
}

/** Something of a pool that was asked for. */
export interface AskedItem {
  readonly pool: string;
  readonly count: number;
}

export interface OpenClaim {
  readonly claim: string;
  readonly pool: string;
  readonly resource: string;
}

/** A request that waits or a lease that is held: what will be an entry once it ends. */
export interface OpenEntry {
  readonly id: string;
  readonly holder: string;
  readonly space: string;
  readonly priority: number;
  readonly items: readonly AskedItem[];
  readonly askedAt: number;
  readonly askedSeq: number;
  readonly grantedAt: number | null;
  readonly waitedFor?: string;
  readonly claims: readonly OpenClaim[];
}

/** From then on a pool had so many resources. */
export interface PoolSize {
  readonly pool: string;
  readonly at: number;
  readonly size: number;
}

/** Given back by the server although its holder still lived, or no longer did. */
export function isExpiry(how: string): boolean {
  return how === "expired" || how === "lifetime";
}
