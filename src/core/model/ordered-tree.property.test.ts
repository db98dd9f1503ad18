import fc from "fast-check";
import { expect, test } from "vitest";
import { OrderedTree } from "./collections.ts";
import { compareArrival, type Rank } from "./rank.ts";

const newQueue = () => new OrderedTree<Rank, Rank>(compareArrival);
const rank = (priority: number, order: number): Rank => ({ priority, order, space: null });

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
      const queue = newQueue();
      let model: Rank[] = [];
      let order = 0;
      for (const { join, value } of steps) {
        if (join) {
          const element = rank(value, ++order);
          queue.add(element);
          model = [...model, element].sort(compareArrival);
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
      const newcomer = rank(0, order + 1);
      const before = model.filter((other) => compareArrival(other, newcomer) < 0).length;
      expect(queue.countBefore(newcomer)).toBe(before);
    }),
  );
});
