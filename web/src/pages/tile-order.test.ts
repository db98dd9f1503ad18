import { expect, test } from "vitest";
import { inTileOrder, withoutFree } from "./tile-order.ts";

const one = (name: string, state: string, drained = false) => ({ name, state, drained });
const names = (tiles: readonly { readonly name: string }[]) =>
  tiles.map(({ name }) => name).join("");

test("inTileOrder() has broken ones first, then those in use, then free ones", () => {
  const tiles = [
    ...[one("a", "free"), one("b", "busy"), one("c", "quarantined"), one("d", "cooling")],
    ...[one("e", "busy", true), one("f", "dirty"), one("g", "free"), one("h", "drained", true)],
  ];
  expect(names(inTileOrder(tiles))).toBe("cefhbdag");
});

test.each([
  ["on a phone", true, 8, 0],
  ["on a phone", true, 9, 9],
  ["on a desk", false, 100, 0],
  ["on a desk", false, 101, 101],
])("withoutFree() %s of %3$i free ones", (_, isPhone, free, want) => {
  const many = Array.from({ length: free }, (_, at) => one(`${at}`, "free"));
  const { tiles, folded } = withoutFree([one("held", "busy"), ...many], isPhone);
  expect([folded, tiles.length]).toEqual([want, 1 + free - want]);
});
