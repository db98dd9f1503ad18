import type { Resource } from "../../../src/api/schemas.ts";

type Share = Pick<NonNullable<Resource["shares"]>[number], "amount">;
type Usage = NonNullable<Resource["usage"]>;

/** Who holds the largest part of any dimension first: what others wait for is often theirs. */
export function largestFirst<T extends Share>(shares: readonly T[], usage: Usage): readonly T[] {
  const largest = ({ amount }: Share) =>
    Math.max(
      0,
      ...usage.map(
        ({ dimension, capacity }) => (amount[dimension] ?? 0) / Math.max(1e-9, capacity),
      ),
    );
  return shares.toSorted((a, b) => largest(b) - largest(a));
}
