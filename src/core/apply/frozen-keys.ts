/**
 * Which request the key of a client names, in a snapshot. Mostly that follows from the rest: it is the last
 * request with this key that is known. But a client that polls may use its key again while it still
 * holds an older lease, and the newer request may end first. Such keys are written down.
 */
import type { FrozenEnds } from "../model/ended-memory.ts";
import type { RequestId } from "../model/ids.ts";

interface Keyed {
  readonly id: RequestId;
  readonly ask: { readonly key?: string };
}

export interface KeyedParts {
  readonly ended: FrozenEnds;
  readonly leases: readonly Keyed[];
  readonly requests: readonly Keyed[];
}

/** Null: no request, although one with this key is known. */
export type OddKeys = readonly (readonly [key: string, id: RequestId | null])[];

/** The keys that `keysOf` would get wrong. */
export function oddKeys(keys: ReadonlyMap<string, RequestId>, parts: KeyedParts): OddKeys {
  const following = keysOf(parts);
  const odd: [string, RequestId | null][] = [];
  for (const [key, id] of keys) if (following.get(key) !== id) odd.push([key, id]);
  for (const key of following.keys()) if (!keys.has(key)) odd.push([key, null]);
  return odd.sort(([one], [other]) => (one < other ? -1 : 1));
}

export function keysOf(
  { ended, leases, requests }: KeyedParts,
  odd: OddKeys = [],
): Map<string, RequestId> {
  const keys = new Map<string, RequestId>();
  for (const { id, key } of [...ended.keyed.older, ...ended.keyed.recent]) {
    if (key !== undefined) keys.set(key, id);
  }
  for (const { id, ask } of [...leases, ...requests]) {
    if (ask.key !== undefined) keys.set(ask.key, id);
  }
  for (const [key, id] of odd) {
    if (id === null) keys.delete(key);
    else keys.set(key, id);
  }
  return keys;
}
