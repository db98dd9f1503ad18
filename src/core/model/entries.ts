type Entries = Readonly<Record<string, string>>;

/** Changes of entries by name: null removes one. */
export type EntryChanges = Readonly<Record<string, string | null>>;

/** Those of the changes that make a difference; undefined if none does. */
export function changedEntries(
  entries: Entries,
  changes: EntryChanges = {},
): EntryChanges | undefined {
  const real = Object.entries(changes).filter(
    ([key, value]) => (entryOf(entries, key) ?? null) !== value,
  );
  return real.length === 0 ? undefined : Object.fromEntries(real);
}

/** The value of a key that a caller chose: `constructor` is a name like any other. */
export function entryOf<Value>(
  entries: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** Returns the same object if nothing changes. */
export function merged(entries: Entries, changes: EntryChanges = {}): Entries {
  const real = changedEntries(entries, changes);
  if (real === undefined) return entries;
  const all = new Map([...Object.entries(entries), ...Object.entries(real)]);
  return Object.fromEntries(
    [...all].filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
