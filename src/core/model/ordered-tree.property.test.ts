import fc from "fast-check";
import { expect, test } from "vitest";
import { compareRank, newQueue, type Rank } from "./rank.ts";

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ join: fc.constant(true), value: fc.integer({ min: -2, max: 2 }) }),
  },
  { weight: 2, arbitrary: fc.record({ join: fc.constant(false), value: fc.nat() }) },
);

test("OrderedTree keeps a queue as a sorted array does", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const queue = newQueue<Rank>();
      let model: Rank[] = [];
      let order = 0;
      for (const { join, value } of steps) {
        if (join) {
          const element = { priority: value, order: ++order };
          queue.add(element);
          model = [...model, element].sort(compareRank);
        } else {
          const element = model[value % Math.max(1, model.length)];
          if (element === undefined) continue;
          queue.remove(element);
          model = model.filter((other) => other !== element);
        }
        expect([...queue]).toEqual(model);
        expect(queue.size).toBe(model.length);
      }
      for (const [place, element] of model.entries()) {
        expect(queue.at(place)).toBe(element);
        expect(queue.countBefore(element)).toBe(place);
      }
      expect(queue.at(model.length)).toBeUndefined();
      expect(queue.at(-1)).toBeUndefined();
      const newcomer = { priority: 0, order: order + 1 };
      const before = model.filter((other) => compareRank(other, newcomer) < 0).length;
      expect(queue.countBefore(newcomer)).toBe(before);
    }),
  );
});

test("RankedQueue ignores the removal of a stranger", () => {
  const queue = newQueue<Rank>();
  queue.add({ priority: 0, order: 1 });
  queue.remove({ priority: 0, order: 2 });
  expect(queue.size).toBe(1);
});

test("compareRank() puts higher priority first, then earlier arrival", () => {
  const early = { priority: 0, order: 1 };
  const late = { priority: 0, order: 2 };
  const urgent = { priority: 5, order: 3 };
  expect([late, urgent, early].sort(compareRank)).toEqual([urgent, early, late]);
});
