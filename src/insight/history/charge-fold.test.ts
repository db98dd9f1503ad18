import { expect, test } from "vitest";
import { ChargeFold } from "./charge-fold.ts";

const birth = { instance: "ocp-1.a", template: "ocp-aws", price: 10 };

/** `space price from-to` of what has ended. */
function ended(fold: ChargeFold): string[] {
  return fold.take().charges.map(({ space, price, fromAt, toAt }) => {
    return `${space} ${price} ${fromAt}-${toAt}`;
  });
}

test("a cluster is stock, then its first holder pays until it is removed", () => {
  const fold = new ChargeFold();
  fold.priced("ocp", 10);
  fold.planned("ocp-1", "ocp", birth, 100);
  fold.priced("ocp", 20);
  fold.granted("ocp-1", "team-a", 200);
  fold.granted("ocp-1", "team-b", 250);
  fold.priced("ocp", 30);
  fold.removed("ocp-1", 400);
  fold.removed("ocp-1", 500);
  expect(ended(fold)).toEqual(["null 10 100-200", "team-a 20 200-400"]);
});

test("without a known price of the pool, a cluster keeps the price of its plan", () => {
  const fold = new ChargeFold();
  fold.planned("ocp-1", "ocp", birth, 0);
  fold.granted("ocp-1", "team-a", 10);
  fold.removed("ocp-1", 20);
  expect(ended(fold)).toEqual(["null 10 0-10", "team-a 10 10-20"]);
});

test("a cluster that was lent and never used is stock again", () => {
  const fold = new ChargeFold();
  fold.planned("ocp-1", "ocp", birth, 0);
  fold.granted("ocp-1", "team-a", 10);
  fold.unused("ocp-1", 30);
  fold.unused("ocp-1", 35);
  fold.granted("ocp-1", "team-b", 40);
  fold.removed("ocp-1", 50);
  expect(ended(fold)).toEqual([
    "null 10 0-10",
    "team-a 10 10-30",
    "null 10 30-40",
    "team-b 10 40-50",
  ]);
});

test("what is open is told once, and a fold goes on from there", () => {
  const fold = new ChargeFold();
  fold.priced("ocp", 5);
  fold.planned("ocp-1", "ocp", birth, 0);
  const { charged, prices } = fold.take();
  expect(fold.take()).toEqual({ charges: [], charged: new Map(), prices: new Map() });
  const open = new Map([...charged].flatMap(([name, one]) => (one === null ? [] : [[name, one]])));
  const next = new ChargeFold({ charged: open, prices });
  next.granted("ocp-1", "team-a", 10);
  next.granted("ocp-2", "team-a", 10); // Nobody has planned it.
  next.removed("ocp-1", 20);
  expect(ended(next)).toEqual(["null 10 0-10", "team-a 5 10-20"]);
});
