/** The order of rows that are read while they change: a row that falls waits, and none moves under a hand. */

/** A row falls to a lower place only after this time: what ends often begins again. */
export const calmMs = 15_000;

export interface Measured {
  readonly value: number;
  /** When it was last as high as that. */
  readonly atMs: number;
}

/** Rises count at once, falls after a while. */
export function calmed(
  before: ReadonlyMap<string, Measured>,
  values: ReadonlyMap<string, number>,
  nowMs: number,
): ReadonlyMap<string, Measured> {
  return new Map(
    Array.from(values, ([name, value]) => {
      const known = before.get(name);
      const holds = known !== undefined && known.value > value && nowMs - known.atMs < calmMs;
      return [name, holds ? known : { value, atMs: nowMs }];
    }),
  );
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
