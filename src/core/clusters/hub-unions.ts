/**
 * Sets of hubs, and all unions of them. Whether numbers of clusters fit on hubs of which each kind of cluster may use some
 * is decided by these alone (Hall's theorem).
 */
import type { Hub } from "../model/hub.ts";

/** More sets than an installation has. Beyond it, only the sets themselves are looked at. */
const unionsMax = 64;

export function unionsOf(sets: Iterable<ReadonlySet<Hub>>): readonly ReadonlySet<Hub>[] {
  const unions = new Map<string, ReadonlySet<Hub>>();
  for (const hubs of sets) {
    const known = unions.size < unionsMax ? [...unions.values()] : [];
    for (const each of [hubs, ...known.map((other) => new Set([...other, ...hubs]))]) {
      const names = Array.from(each, ({ name }) => name);
      unions.set(names.sort().join("\n"), each);
    }
  }
  return [...unions.values()];
}
