/**
 * Returns the new value, but reuses the objects of the old one that are equal. A row whose object
 * is the same is not drawn again. Works for JSON values only.
 */
export function keepSame<T>(before: unknown, after: T): T;
export function keepSame(before: unknown, after: unknown): unknown {
  if (Object.is(before, after) || !isContainer(before) || !isContainer(after)) return after;
  if (Array.isArray(before) !== Array.isArray(after)) return after;
  const merged: unknown[] | Parts = Array.isArray(after) ? [] : {};
  const keys = Object.keys(after);
  let same = keys.length === Object.keys(before).length;
  for (const key of keys) {
    const part = keepSame(before[key], after[key]);
    Reflect.set(merged, key, part);
    same &&= key in before && Object.is(part, before[key]);
  }
  return same ? before : merged;
}

interface Parts {
  readonly [key: string]: unknown;
}

function isContainer(value: unknown): value is Parts {
  return typeof value === "object" && value !== null;
}
