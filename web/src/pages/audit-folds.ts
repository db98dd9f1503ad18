/** A large configuration has one entry for each slice of its events; people read one. */
import type { AuditEntry } from "../../../src/api/audit-schemas.ts";

/** The slices of one configuration are written within this time. */
const togetherMs = 2_000;

/** The newest first, as the entries are. */
export function withWholeConfigurations(entries: readonly AuditEntry[]): AuditEntry[] {
  const whole: AuditEntry[] = [];
  for (const entry of entries) {
    const last = whole.at(-1);
    if (last !== undefined && continues(last, entry)) whole.splice(-1, 1, merged(last, entry));
    else whole.push(entry);
  }
  return whole;
}

/** Whether `later` goes on where `earlier` ends. */
function continues(later: AuditEntry, earlier: AuditEntry): boolean {
  return (
    later.action === "configuration-changed" &&
    earlier.action === later.action &&
    later.event === Number(earlier.detail?.["through"]) + 1 &&
    Date.parse(later.at) - Date.parse(earlier.at) <= togetherMs
  );
}

/** Under the number of the later one, which does not change when earlier ones are loaded. */
function merged(later: AuditEntry, earlier: AuditEntry): AuditEntry {
  const counts = new Map<string, number>();
  for (const { detail } of [earlier, later]) {
    for (const [type, count] of Object.entries(detail?.["changes"] ?? {})) {
      counts.set(type, (counts.get(type) ?? 0) + Number(count));
    }
  }
  const unnamed = Number(earlier.detail?.["unnamed"] ?? 0) + Number(later.detail?.["unnamed"] ?? 0);
  return {
    ...later,
    ...(earlier.event === undefined ? undefined : { event: earlier.event }),
    pools: [...new Set([...(earlier.pools ?? []), ...(later.pools ?? [])])],
    detail: {
      changes: Object.fromEntries(counts),
      through: later.detail?.["through"],
      ...(unnamed === 0 ? undefined : { unnamed }),
    },
  };
}
