import type { AuditEntry } from "./audit-schemas.ts";

/** Why or how, in a few words: the reason, how a lease ended, or what a configuration has changed. */
export function auditSummary({ reason, detail }: Pick<AuditEntry, "reason" | "detail">): string {
  if (reason !== undefined) return reason;
  const changes = detail?.["changes"];
  if (typeof changes !== "object" || changes === null) return endWords(detail?.["end"]);
  return Object.entries(changes)
    .map(([type, count]) => `${String(count)} ${type}`)
    .join(", ");
}

/** `hold` is the name of the key in the pool's policy. */
function endWords(end: unknown): string {
  return end === "hold" ? "auto-released" : String(end ?? "");
}
