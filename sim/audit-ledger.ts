/** Checks with the audit of the server that every change has a way and, unless Berth made it, a name. */
import { AuditFold } from "../src/insight/audit/fold.ts";
import type { Recorded } from "../src/journal/journal.ts";
import { assertInvariant } from "./violation.ts";

/** These have no caller who could prove a name. */
const nameless: readonly string[] = ["clock", "config"];

export class AuditLedger {
  readonly #fold = new AuditFold({ open: new Map(), members: new Map() });

  record(recorded: Recorded): void {
    this.#fold.follow(recorded);
    for (const { facts } of this.#fold.take().entries) {
      const { action, event, way, by } = facts;
      const what = () => `event ${String(event)} (${action}, ${way}) does not say who caused it`;
      assertInvariant(way !== "unknown", what);
      assertInvariant(by !== undefined || nameless.includes(way), what);
    }
  }
}
