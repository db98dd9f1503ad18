/**
 * Overcommit in exact decimals. People write a ratio such as "0.7" or "2.3", and binary fractions
 * give wrong results: 10 × 2.3 must be 23, and 10 × 0.7 must be 7.
 */

/** A decimal: digits divided by a power of ten. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: bigint;
}

const decimalPattern = /^(\d{1,6})(?:\.(\d{1,6}))?$/;

/** A larger ratio is probably a typing error. */
export const ratioMax = 100;

/** Returns undefined unless the text is a decimal above 0 and at most 100, such as 1.5. */
export function parseRatio(text: string): Decimal | undefined {
  const [, whole, fraction = ""] = decimalPattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const digits = BigInt(whole + fraction);
  if (digits === 0n || digits > BigInt(ratioMax) * scale) return undefined;
  return { digits, scale };
}

/** The lendable part of a capacity with a ratio: the exact product, rounded down. */
export function effectiveCapacity(capacity: number, ratio: string | undefined): number {
  if (ratio === undefined) return capacity;
  const decimal = parseRatio(ratio);
  if (decimal === undefined) throw new Error(`Cannot overcommit by "${ratio}": it is not a ratio`);
  return Number((BigInt(capacity) * decimal.digits) / decimal.scale);
}
