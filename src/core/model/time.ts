/** Milliseconds since 1970 on the broker's clock, which never runs backwards. */
export type Instant = number & { readonly [instant]: true };
declare const instant: unique symbol;

/** Never due: what has no deadline sorts behind everything that has one. */
export const never = Number.POSITIVE_INFINITY as Instant;

export function after(start: Instant, durationMs: number): Instant {
  return (start + durationMs) as Instant;
}

export function earliest(a: Instant, b: Instant): Instant {
  return a <= b ? a : b;
}
