/** What the search box offers of all that was found. */
import { someOfEachKind } from "../../../src/core/explain/some-of-each-kind.ts";

interface Found {
  readonly kind: string;
  readonly name: string;
  readonly title: string;
}

/** What is called so comes first, whatever its kind; then views; and no kind hides the others. */
export function searchChoices<T extends Found>(
  views: readonly T[],
  hits: readonly T[],
  text: string,
  max: number,
): T[] {
  const wanted = text.toLowerCase();
  const isExact = ({ name, title }: T) => [name, title].some((one) => one.toLowerCase() === wanted);
  const others = [...views, ...hits];
  const exact = others.filter(isExact);
  return someOfEachKind([...exact, ...others.filter((one) => !isExact(one))], max);
}
