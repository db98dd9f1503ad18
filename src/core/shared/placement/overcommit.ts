/**
 * Overcommit in exact decimals. A ratio is written by people ("0.7", "2.3"), and binary fractions
 * get it wrong just where it matters: 10 × 2.3 must be 23, and 10 × 0.7 must be 7.
 */

/** A decimal as digits over a power of ten. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: bigint;
}

const decimalPattern = /^(\d{1,6})(?:\.(\d{1,6}))?$/;

/** More than this is a slip of the pen; less lends next to nothing. */
export const ratioMax = 100;

/** Undefined unless it is a decimal above 0 and at most 100, such as 1.5. */
export function parseRatio(text: string): Decimal | undefined {
  const [, whole, fraction = ""] = decimalPattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const digits = BigInt(whole + fraction);
  if (digits === 0n || digits > BigInt(ratioMax) * scale) return undefined;
  return { digits, scale };
}

/** What may be lent of a capacity under a ratio: the exact product, rounded down. */
export function effectiveCapacity(capacity: number, ratio: string | undefined): number {
  if (ratio === undefined) return capacity;
  const decimal = parseRatio(ratio);
  if (decimal === undefined) throw new Error(`Cannot overcommit by "${ratio}": it is no ratio`);
  return Number((BigInt(capacity) * decimal.digits) / decimal.scale);
}
