import { expect, test } from "vitest";
import { calmed, calmMs, inShownOrder } from "./calm-order.ts";

test("calmed() lets a row fall only after a while, and rise at once", () => {
  const first = calmed(new Map(), new Map([["aws", 3]]), 0);
  const valueAt = (value: number, nowMs: number) => {
    return calmed(first, new Map([["aws", value]]), nowMs).get("aws")?.value;
  };
  expect(valueAt(0, calmMs - 1)).toBe(3);
  expect(valueAt(0, calmMs)).toBe(0);
  expect(valueAt(9, 1)).toBe(9);
});

test("calmed() begins again with each time that the value is as high", () => {
  const aws = (value: number) => new Map([["aws", value]]);
  const again = calmed(calmed(new Map(), aws(3), 0), aws(3), calmMs);
  expect(calmed(again, aws(0), calmMs + 1).get("aws")?.value).toBe(3);
});

test("inShownOrder() moves no row, and puts new ones last", () => {
  const rows = ["d", "c", "b"].map((name) => ({ name }));
  expect(inShownOrder(["a", "b", "c"], rows).map(({ name }) => name)).toEqual(["b", "c", "d"]);
});
