/**
 * The limits of user data. Commands of janitors get it as environment variables, which have no NUL
 * and at most 128 KiB each on Linux, and every change of a resource is written to the journal.
 */
export const userDataLimits = {
  keysMax: 64,
  keyLengthMax: 253,
  valueLengthMax: 16 * 1024,
  /** All names and values of one resource together. */
  totalLengthMax: 64 * 1024,
} as const;

export type UserDataFault =
  | { readonly why: "too_many_keys"; readonly max: number }
  /** A name is empty, too long, or has a control character. The fault does not repeat it. */
  | { readonly why: "bad_name"; readonly max: number }
  | { readonly why: "value_has_nul"; readonly key: string }
  | { readonly why: "value_too_long"; readonly key: string; readonly max: number }
  | { readonly why: "total_too_long"; readonly max: number };

type UserData = Readonly<Record<string, string>>;

/**
 * Returns the first fault in `next`, never with a value, because values may be secrets. Entries that
 * `before` has are not checked: older versions accepted them, and they must not block other changes.
 */
export function userDataFault(next: UserData, before: UserData = {}): UserDataFault | undefined {
  const { keysMax, keyLengthMax, valueLengthMax, totalLengthMax } = userDataLimits;
  const entries = Object.entries(next);
  if (entries.length > Math.max(keysMax, Object.keys(before).length)) {
    return { why: "too_many_keys", max: keysMax };
  }
  for (const [key, value] of entries) {
    if (before[key] === value) continue;
    if (!isName(key)) return { why: "bad_name", max: keyLengthMax };
    if (value.includes("\0")) return { why: "value_has_nul", key };
    if (value.length > valueLengthMax) return { why: "value_too_long", key, max: valueLengthMax };
  }
  if (lengthOf(next) <= Math.max(totalLengthMax, lengthOf(before))) return undefined;
  return { why: "total_too_long", max: totalLengthMax };
}

/** Controls of C0 and C1, line separators, and half a surrogate pair. */
const unfit = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

function isName(key: string): boolean {
  return key !== "" && key.length <= userDataLimits.keyLengthMax && !unfit.test(key);
}

function lengthOf(entries: UserData): number {
  return Object.entries(entries).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
}

/** What is wrong, for people: `the value of "key" has more than 16384 characters`. */
export function describeUserDataFault(fault: UserDataFault): string {
  switch (fault.why) {
    case "too_many_keys":
      return `it would have more than ${fault.max} keys of user data`;
    case "bad_name":
      return `a key of user data is empty, has more than ${fault.max} characters or has a control character`;
    case "value_has_nul":
      return `the value of "${fault.key}" in its user data has a NUL character`;
    case "value_too_long":
      return `the value of "${fault.key}" in its user data has more than ${fault.max} characters`;
    case "total_too_long":
      return `its user data would have more than ${fault.max} characters in total`;
  }
}
