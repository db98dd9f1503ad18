/** Who did what an entry of the audit says, as people read it. */
import type { AuditEntry } from "./audit-schemas.ts";

type Caller = Pick<AuditEntry, "by" | "as" | "way" | "lease" | "space">;

/** The proven name; of an entry without one, what is known of the caller. */
export function auditName({ by, as, way, lease }: Caller): string {
  if (by !== undefined) return by;
  if (way === "clock" || way === "worker") return "Berth";
  if (way === "config") return "The file";
  if (as !== undefined) return "unnamed";
  // A release with the token of the lease proves no name, but that it is the holder's.
  return lease === undefined ? "unnamed" : "the holder";
}

/** `operator (night shift) of space ops`: the proven name, the one that was given, and the space. */
export function auditCaller(entry: Caller): string {
  const { as, space } = entry;
  const given = as === undefined ? "" : ` (${as})`;
  return `${auditName(entry)}${given}${space === undefined ? "" : ` of space ${space}`}`;
}
