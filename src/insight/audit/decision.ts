import { type AuditAction, type AuditEntry, ownActions } from "./entry.ts";

/** What jobs, workers and the clock do all the time. */
const routine: ReadonlySet<AuditAction> = new Set<AuditAction>([
  ...(["request-queued", "request-left", "lease-granted", "lease-ended", "claim-ended"] as const),
  ...(["pool-signalled", "rate-changed", "pool-admitted", "pool-withheld"] as const),
  ...(["cluster-moved", "cluster-wanted", "cluster-reported", "hub-probed"] as const),
  ...(["resource-added", "resource-relabelled"] as const),
]);

/** No event of the journal: what was refused, the configuration, and what happened to the record. */
const own: ReadonlySet<string> = new Set(ownActions);

/** Janitors set states this way, for each lease. */
const janitorWays: ReadonlySet<string> = new Set(["boskos", "capacity"]);

/** Holders report these; the text is evidence, and not the reason of a person. */
const reported: ReadonlySet<AuditAction> = new Set<AuditAction>(["pool-signalled", "rate-changed"]);

/**
 * Whether somebody has decided this: a change with a reason, or one that jobs do not make; also what
 * was refused, and what happened to the record itself.
 */
export function isDecision({ action, way, reason }: AuditEntry): boolean {
  if (own.has(action)) return true;
  if (way === "clock" || way === "worker") return false;
  if (reported.has(action)) return false;
  if (reason !== undefined) return true;
  return action === "resource-changed" ? !janitorWays.has(way) : !routine.has(action);
}
