/** One entry of the audit: who changed what, when, which way, and why. */
import type { DurableEvent } from "../../core/model/event.ts";
import type { Way } from "../../core/model/origin.ts";

/** Entries that no event of the journal stands behind. */
export const ownActions = [
  /** The first entry of a chain: the file is new. */
  "audit-started",
  /** Old entries were deleted. `through` and `hash` are those of the last one. */
  "entries-deleted",
  /** A configuration came into force. `changes` counts its events, up to the number `through`. */
  "configuration-changed",
  /** The journal is another one, or an older copy. */
  "journal-replaced",
  /** Events were pruned before they were recorded here. */
  "events-missing",
  /** A caller without the role for it has tried to act on behalf of others. */
  "call-refused",
  /** Credentials were not accepted. */
  "sign-in-refused",
] as const;

export type OwnAction = (typeof ownActions)[number];

export type AuditAction = DurableEvent["type"] | OwnAction;

/** Absent fields do not apply. No field has the value of a token or of user data. */
export interface AuditFacts {
  readonly action: AuditAction;
  /** The number of the event in the journal; absent if there is none. */
  readonly event?: number;
  /** `unknown`: an older Berth has written the event. */
  readonly way: Way | "unknown";
  /** The name that the caller has proved. */
  readonly by?: string;
  /** A name that the caller has only given. */
  readonly as?: string;
  /** The space of the caller, or of the lease if nobody else has acted on it. */
  readonly space?: string;
  /** The space of the lease, if it is not that of the caller. */
  readonly leaseSpace?: string;
  readonly reason?: string;
  readonly lease?: string;
  readonly holder?: string;
  readonly pools?: readonly string[];
  readonly resources?: readonly string[];
  /** What is special to the action, such as the new state of a resource. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface AuditEntry extends AuditFacts {
  /** 1 for the first entry of a chain, without gaps. */
  readonly number: number;
  /** RFC 3339 */
  readonly at: string;
}

/** An entry as it is exported: `previous` is the hash of the entry before. */
export interface ChainedEntry extends AuditEntry {
  readonly previous: string;
  readonly hash: string;
}
