import { expect, test } from "vitest";
import { largestFirst } from "./largest-first.ts";

test("largestFirst() compares parts of the capacity, and keeps the order of equal ones", () => {
  const usage = [
    { dimension: "vcpus", used: 60, capacity: 64 },
    { dimension: "memory", used: 200, capacity: 512 },
  ];
  const share = (holder: string, vcpus: number, memory: number) => ({
    ...{ holder, amount: { vcpus, memory } },
  });
  const shares = [share("a", 4, 16), share("b", 8, 300), share("c", 40, 16), share("d", 4, 16)];
  expect(largestFirst(shares, usage).map(({ holder }) => holder)).toEqual(["c", "b", "a", "d"]);
});
