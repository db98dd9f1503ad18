/** Clusters that a driver has found outside, and that are not in the books. */
import type { Instant } from "./time.ts";

/** What a search has looked through: what a driver finds with these credentials. */
export interface SearchScope {
  readonly template: string;
  /** The reference to a space's own credentials; null: those of the template. */
  readonly credentials: string | null;
  /** Absent: the template needs no hub. */
  readonly hub?: string;
}

export interface FoundCluster {
  /** What it is called outside. */
  readonly name: string;
  readonly instance: string;
  /** As the driver says; it may be wrong. */
  readonly createdAt: string;
}

export interface OrphanCluster extends FoundCluster, SearchScope {
  /** When a search first found it. It stays over restarts. */
  readonly seenAt: Instant;
}

/** A driver that finds more is wrong, or all of them have one cause. */
export const orphansMax = 1_000;
