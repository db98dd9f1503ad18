import type { Problem } from "../api/problem.ts";
import { nearest } from "../core/model/nearest.ts";
import { invalid } from "./problems.ts";

/** The problem of a word that is none of a few: the hint has the nearest, or all of them. */
export function unknownWord(
  place: string,
  word: { readonly kind: string; readonly given: string },
  known: readonly string[],
): Problem {
  const near = nearest(word.given, known);
  const hint = near === undefined ? `Use one of ${known.join(", ")}` : `Did you mean "${near}"?`;
  return invalid(place, `there is no ${word.kind} "${word.given}"`, hint);
}
