/** What a pool that is only a limit has in statistics: the claims of the pools below it. */
import type { HistoryEntry, OpenEntry } from "./entry.ts";

/** A claim counts as one, whatever its amount. */
export function* endedBelow(entries: Iterable<HistoryEntry>, below: ReadonlySet<string>) {
  for (const entry of entries) if (below.has(entry.pool)) yield { ...entry, amount: null };
}

export function* openBelow(entries: Iterable<OpenEntry>, below: ReadonlySet<string>) {
  for (const entry of entries) {
    const items = entry.items.filter(({ pool }) => below.has(pool));
    const claims = entry.claims.filter(({ pool }) => below.has(pool));
    const bare = claims.map(({ amount: _, ...claim }) => claim);
    if (items.length + claims.length > 0) yield { ...entry, items, claims: bare };
  }
}
