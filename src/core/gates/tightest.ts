import type { Refusal } from "../model/outcome.ts";

/**
 * Of several refusals the one with the smallest bound, so that whoever asks for that much is not
 * refused again. Bounds of different units cannot be compared: then it is the first one.
 */
export function tightest(refusals: readonly (Refusal | undefined)[]): Refusal | undefined {
  let found: Refusal | undefined;
  for (const refusal of refusals) {
    if (refusal !== undefined && (found === undefined || isTighter(refusal, found)))
      found = refusal;
  }
  return found;
}

function isTighter(one: Refusal, other: Refusal): boolean {
  const [own, others] = [boundOf(one), boundOf(other)];
  if (own === undefined || others === undefined || own.unit !== others.unit) return false;
  return own.most < others.most;
}

interface Bound {
  readonly most: number;
  /** The dimension; undefined: claims. */
  readonly unit: string | undefined;
}

function boundOf(refusal: Refusal): Bound | undefined {
  switch (refusal.code) {
    case "never_fits":
      return { most: refusal.size, unit: undefined };
    case "too_few_eligible":
      return { most: refusal.possible, unit: undefined };
    case "amount_too_large":
      return { most: refusal.largest, unit: refusal.dimension };
    case "quota_too_small":
      return { most: refusal.max, unit: refusal.dimension };
    default:
      return undefined;
  }
}
