import { isNode, isSeq } from "yaml";
import type { ConfigDocument } from "./document.ts";
import { withinLimit } from "./read-map.ts";
import type { Spot } from "./source.ts";
import { type Expected, readText, refuseValue, type TextKind } from "./written.ts";

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
  const { node, path, offset } = spot;
  if (!isSeq(node)) {
    refuseValue(document.source, spot, expected);
    return undefined;
  }
  const size = { count: node.items.length, max: expected.max, of: "items" };
  if (!withinLimit(document, spot, size) || !document.mayRead(node, spot)) return undefined;
  return node.items.flatMap((item, index) => {
    const at = document.spot([...path, index], isNode(item) ? item : null, offset);
    return readText(document.source, at, expected.kind) ?? [];
  });
}
