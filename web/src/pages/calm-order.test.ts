import { expect, test } from "vitest";
import { type Calm, calmed, calmMs, inShownOrder } from "./calm-order.ts";

const aws = (value: number, key = "trouble") => ({ key, values: new Map([["aws", value]]) });
const calmOf = ({ measured }: Calm) => measured.get("aws")?.value;

test.each([
  ["falls only after a while", aws(1), calmMs - 1, 3],
  ["has fallen after a while", aws(1), calmMs, 1],
  ["rises at once", aws(9), 1, 9],
  ["leaves the order at once", aws(0), 1, 0],
  ["begins anew in another order", aws(1, "free"), 1, 1],
])("calmed(): a row %s", (_, next, nowMs, want) => {
  expect(calmOf(calmed(calmed(undefined, aws(3), 0), next, nowMs))).toBe(want);
});

test("calmed() begins again with each time that the value is as high", () => {
  const again = calmed(calmed(undefined, aws(3), 0), aws(3), calmMs);
  expect(calmOf(calmed(again, aws(1), calmMs + 1))).toBe(3);
});

test("inShownOrder() moves no row, and puts new ones last", () => {
  const rows = ["d", "c", "b"].map((name) => ({ name }));
  expect(inShownOrder(["a", "b", "c"], rows).map(({ name }) => name)).toEqual(["b", "c", "d"]);
});
