import { isNode, isScalar, isSeq } from "yaml";
import type { ConfigDocument } from "./document.ts";
import { withinLimit } from "./read-map.ts";
import type { Spot } from "./source.ts";
import { type Expected, readText, refuseValue, type TextKind } from "./yaml-scalars.ts";

interface TextList extends Expected {
  readonly kind: TextKind;
  readonly max: number;
}

/** Those items that are text of this kind. Undefined, with the reason in the source, if no list. */
export function readTexts(
  document: ConfigDocument,
  spot: Spot,
  expected: TextList,
): string[] | undefined {
  const { node } = spot;
  if (isSeq(node)) {
    const size = { count: node.items.length, max: expected.max, of: "items" };
    if (!withinLimit(document, spot, size)) return undefined;
  }
  return itemsOf(document, spot, expected)?.flatMap((item) => {
    return readText(document.source, item, expected.kind) ?? [];
  });
}

/** The items of a list, each with its place; none, with the reason in the source, if it is no list. */
export function listOf(document: ConfigDocument, spot: Spot | undefined, title: string): Spot[] {
  if (spot === undefined) return [];
  return itemsOf(document, spot, { title, hint: "write [one, another]" }) ?? [];
}

function itemsOf(document: ConfigDocument, spot: Spot, expected: Expected): Spot[] | undefined {
  const { node } = spot;
  if (!isSeq(node)) {
    refuseValue(document.source, spot, expected);
    return undefined;
  }
  if (!document.mayRead(node, spot)) return undefined;
  return node.items.map((item, index) =>
    document.spot([...spot.path, index], isNode(item) ? item : null, spot.offset),
  );
}

/** What a plain value is; undefined where there is a map or a list. */
export function scalarOf({ node }: Spot): string | number | boolean | null | undefined {
  const value = isScalar(node) ? node.value : undefined;
  const known =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return known || value === null ? value : undefined;
}
