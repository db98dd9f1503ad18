/** The order of rows that are read while they change: a row that falls waits, and none moves under a hand. */

/** A row falls to a lower place only after this time: what ends often begins again. */
export const calmMs = 5_000;

export interface Measured {
  readonly value: number;
  /** When it was last as high as that. */
  readonly atMs: number;
}

/** What the rows had, in the order and with the filter that were chosen then. */
export interface Calm {
  readonly key: string;
  readonly measured: ReadonlyMap<string, Measured>;
}

/**
 * Rises count at once, falls after a while; but what is 0 is out of the order, and falls at once. Another order or
 * filter (`key`) begins anew: its numbers mean something else.
 */
export function calmed(
  before: Calm | undefined,
  { key, values }: { readonly key: string; readonly values: ReadonlyMap<string, number> },
  nowMs: number,
): Calm {
  const known = before?.key === key ? before.measured : new Map<string, Measured>();
  const measured = Array.from(values, ([name, value]) => {
    const last = known.get(name);
    const falls = last !== undefined && value > 0 && last.value > value;
    const holds = falls && nowMs - last.atMs < calmMs;
    return [name, holds ? last : { value, atMs: nowMs }] as const;
  });
  return { key, measured: new Map(measured) };
}

/** In the order that is shown already; those that are new come last, in their own order. */
export function inShownOrder<T extends { readonly name: string }>(
  shown: readonly string[],
  rows: readonly T[],
): readonly T[] {
  const places = new Map(shown.map((name, place) => [name, place]));
  const placeOf = ({ name }: T) => places.get(name) ?? shown.length;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}
