/** An invariant is broken. */
export class Violation extends Error {
  override readonly name = "Violation";
}

export function assertInvariant(holds: boolean, what: () => string): void {
  if (!holds) throw new Violation(what());
}
