import { entryOf } from "./entries.ts";
import { nearest } from "./nearest.ts";
import type { Candidate, Selection } from "./selection.ts";

/**
 * Returns the name or the label that the client may have meant, as a client writes it. Returns
 * undefined if each condition alone has a match.
 */
export function nearestMatch(
  candidates: readonly Candidate[],
  { resource, selector = {} }: Partial<Pick<Selection, "resource" | "selector">>,
): string | undefined {
  if (resource !== undefined && candidates.every(({ name }) => name !== resource)) {
    return nearest(
      resource,
      candidates.map(({ name }) => name),
    );
  }
  for (const [key, value] of Object.entries(selector)) {
    if (candidates.some(({ labels }) => entryOf(labels, key) === value)) continue;
    const values = new Set(candidates.flatMap(({ labels }) => entryOf(labels, key) ?? []));
    if (values.size === 0) return nearestKey(candidates, key, value);
    const meant = nearest(value, values);
    return meant === undefined ? undefined : `${key}=${meant}`;
  }
  return undefined;
}

function nearestKey(
  candidates: readonly Candidate[],
  key: string,
  value: string,
): string | undefined {
  const keys = new Set(candidates.flatMap(({ labels }) => Object.keys(labels)));
  const meant = nearest(key, keys);
  return meant === undefined ? undefined : `${meant}=${value}`;
}
