import type { AuditEntry } from "./audit-schemas.ts";
import { counts } from "./audit-words.ts";

/** Why or how, in a few words: the reason, how a lease ended, or what a configuration has changed. */
export function auditSummary({ reason, detail }: Pick<AuditEntry, "reason" | "detail">): string {
  if (reason !== undefined) return reason;
  return counts(detail?.["changes"]) || endWords(detail?.["end"]);
}

/** `hold` is the name of the key in the pool's policy. */
function endWords(end: unknown): string {
  return end === "hold" ? "auto-released" : String(end ?? "");
}
