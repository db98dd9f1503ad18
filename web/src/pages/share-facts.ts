/** What each space has of a pool beside what its weight gives it. */
import type { Space } from "../../../src/api/space-schemas.ts";

export interface SpaceShare {
  readonly name: string;
  readonly weight: number;
  readonly held: number;
  readonly capacity: number;
  /** From 0 to 1. */
  readonly share: number;
  /** The part that its weight gives it while all of these spaces want more. */
  readonly fair: number;
  readonly quota: number | null;
}

/** Only spaces that hold something of the pool or have a quota of it. Those with the most first. */
export function sharesOf(pool: string, spaces: readonly Space[]): SpaceShare[] {
  const found = spaces.flatMap((space) => {
    const hold = space.holds.find((one) => one.pool === pool); // The largest part is the first.
    const quota = space.quotas.find((one) => one.pool === pool);
    if (hold === undefined && quota === undefined) return [];
    const { held = 0, capacity = 0 } = hold ?? {};
    return [{ ...space, held, capacity, quota: quota?.max ?? null }];
  });
  const weights = found.reduce((sum, { weight }) => sum + weight, 0);
  const whole = Math.max(0, ...found.map(({ capacity }) => capacity));
  return found
    .map(({ name, weight, held, quota }) => {
      const share = whole === 0 ? 0 : held / whole;
      return { name, weight, held, capacity: whole, share, fair: weight / weights, quota };
    })
    .sort((a, b) => b.share - a.share || a.name.localeCompare(b.name));
}

/** The dimension that the numbers of a shared pool are of; empty: claims. */
export function dimensionOf(pool: string, spaces: readonly Space[]): string {
  const holds = spaces.flatMap((space) => space.holds.filter((one) => one.pool === pool));
  return holds[0]?.dimension ?? "";
}
