/** Whether an amount fits on a shared resource, and what would have to come free. */
import type { Explanation } from "../../../src/api/schemas.ts";

/** What the server says of one resource for one request. */
export type Room = NonNullable<Explanation["needs"][number]["rooms"]>[number];
type Share = NonNullable<Room["shares"]>[number];
export type Amounts = Readonly<Record<string, number>>;

/** One dimension of a resource beside what is asked of it. */
export interface Fit {
  readonly dimension: string;
  readonly used: number;
  readonly capacity: number;
  readonly asked: number;
  /** Of which it can have so much now. */
  readonly free: number;
  /** Free, and not for this request: it is reserved for those ahead. */
  readonly reserved: number;
  /** How much is missing; 0: it fits. */
  readonly missing: number;
}

/** In the order of the request; dimensions that it does not ask for are left out. */
export function fitsOf(
  amount: Amounts,
  { usage = [], short }: Pick<Room, "usage" | "short">,
): Fit[] {
  return Object.entries(amount).flatMap(([dimension, asked]): Fit[] => {
    const found = usage.find((one) => one.dimension === dimension);
    if (found === undefined) return [];
    const { used, capacity } = found;
    const lack = short.find((one) => one.dimension === dimension);
    const free = lack?.free ?? Math.max(0, capacity - used);
    const missing = lack === undefined ? 0 : Math.max(0, asked - free);
    const reserved = lack?.reservedAhead ?? 0;
    return [{ dimension, used, capacity, asked, free, reserved, missing }];
  });
}

/**
 * The holders who would have to release for the amount to fit. Each of them alone (`any`), or all of
 * them together (`all`), the largest first, and none that is not needed. Empty: it fits, or not even an empty resource has enough.
 */
export interface Releases {
  readonly how: "any" | "all";
  readonly holders: readonly Share[];
}

export function releasesFor(fits: readonly Fit[], shares: readonly Share[]): Releases {
  const missing = fits.filter((fit) => fit.missing > 0);
  const enough = (chosen: readonly Share[]) =>
    missing.every((fit) => sumOf(chosen, fit.dimension) >= fit.missing);
  if (missing.length === 0 || !enough(shares)) return { how: "any", holders: [] };
  const alone = shares.filter((share) => enough([share]));
  if (alone.length > 0) return { how: "any", holders: alone };
  const gain = (share: Share) =>
    missing.reduce((sum, { dimension, missing: lack }) => {
      return sum + Math.min(1, (share.amount[dimension] ?? 0) / lack);
    }, 0);
  const largestFirst = shares.toSorted((a, b) => gain(b) - gain(a));
  const count = largestFirst.findIndex((_, at) => enough(largestFirst.slice(0, at + 1))) + 1;
  // The largest in one dimension may not be needed beside those that are large in both.
  const needed = largestFirst.slice(0, count).reduce<readonly Share[]>(
    (chosen, share) => {
      const others = chosen.filter((one) => one !== share);
      return enough(others) ? others : chosen;
    },
    largestFirst.slice(0, count),
  );
  return { how: "all", holders: needed };
}

function sumOf(shares: readonly Share[], dimension: string): number {
  return shares.reduce((sum, { amount }) => sum + (amount[dimension] ?? 0), 0);
}
