export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  readonly mean: number;
}

/** Returns null if there are no values. Sorts them in place. */
export function percentilesOf(values: number[]): Percentiles | null {
  const max = sorted(values).at(-1);
  if (max === undefined) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { p50: rank(values, 0.5), p90: rank(values, 0.9), p99: rank(values, 0.99), max, mean };
}

/** The smallest value that at least this share of the values do not exceed. They must be sorted. */
export function rank(values: readonly number[], share: number): number {
  const index = Math.max(0, Math.ceil(values.length * share) - 1);
  return values[index] ?? Number.NaN;
}

export function sorted(values: number[]): number[] {
  return values.sort((a, b) => a - b);
}
