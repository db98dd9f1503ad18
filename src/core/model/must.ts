/** What an event names must be there: otherwise the journal is damaged, or there is a bug. */
export function must<Value>(value: Value | null | undefined, name: string): Value {
  if (value === undefined || value === null) {
    throw new Error(`Cannot apply an event: there is no "${name}"`);
  }
  return value;
}
