import Type, { type Static } from "typebox";
import { limits } from "../api/limits.ts";
import type { PageOf } from "../api/schemas.ts";
import { invalid } from "./problems.ts";

const filter = Type.Optional(Type.String({ maxLength: limits.holderLengthMax }));

export const pageFields = {
  limit: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,6}$",
      description: `At most ${limits.pageSizeMax}, ${limits.pageSizeDefault} unless given`,
    }),
  ),
  after: Type.Optional(
    Type.String({ maxLength: limits.nameLengthMax, description: "The `next` of the page before" }),
  ),
};

export const ListQuery = Type.Object(
  { pool: filter, holder: filter, ...pageFields },
  { additionalProperties: false },
);

type PageQuery = Partial<Static<Type.TObject<typeof pageFields>>>;

/**
 * One page in order of the key, which must be unique. A cursor is the last key of a page, so that
 * pages neither repeat nor skip what stays, however much comes and goes between two calls.
 */
export function pageOf<Element, Rendered>(
  elements: Iterable<Element>,
  { limit, after }: PageQuery,
  keyOf: (element: Element) => string,
  render: (element: Element) => Rendered,
): PageOf<Rendered> {
  const size = pageSizeOf(limit);
  const first = firstAfter(after, elements, size + 1, keyOf);
  const page = first.slice(0, size);
  const last = page.at(-1);
  const next = first.length > size && last !== undefined ? keyOf(last) : null;
  return { items: page.map(render), next };
}

/**
 * The first elements behind a key, in order. Sorting all of a million for a page of one took 1.5 s;
 * this keeps only candidates for the page and drops the rest: 0.1 s.
 */
function firstAfter<Element>(
  after: string | undefined,
  elements: Iterable<Element>,
  countMax: number,
  keyOf: (element: Element) => string,
): Element[] {
  const byKey = (a: Element, b: Element) => (keyOf(a) < keyOf(b) ? -1 : 1);
  let kept: Element[] = [];
  let largest: string | undefined;
  for (const element of elements) {
    const key = keyOf(element);
    if (after !== undefined && key <= after) continue;
    if (largest !== undefined && key > largest) continue;
    kept.push(element);
    if (kept.length < 2 * countMax) continue;
    kept = kept.sort(byKey).slice(0, countMax);
    const last = kept.at(-1);
    if (last !== undefined) largest = keyOf(last);
  }
  return kept.sort(byKey).slice(0, countMax);
}

export function pageSizeOf(limit: string | undefined): number {
  const size = limit === undefined ? limits.pageSizeDefault : Number(limit);
  if (size >= 1 && size <= limits.pageSizeMax) return size;
  throw invalid(
    "query.limit",
    `${size} is out of range`,
    `Give a number from 1 to ${limits.pageSizeMax}`,
  );
}

/** The cursor of a list in the order of numbers. */
export function numberInCursor(after: string | undefined): number | undefined {
  if (after === undefined) return undefined;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw invalid("query.after", `"${after}" is not a cursor`, "Send the next of the page before");
}
