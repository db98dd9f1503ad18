import fc from "fast-check";
import { expect, test } from "vitest";
import { Arrivals } from "./arrivals.ts";

interface Waiter {
  readonly order: number;
}

/** Long enough for several chunks, which have 64 waiters at most. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("join"), value: fc.nat({ max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("return"), value: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave"), value: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lead"), value: fc.nat({ max: 60 }) }) },
);

test("Arrivals keeps a line as a sorted array does", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const line = new Arrivals<Waiter>();
      let model: Waiter[] = [];
      const gone: Waiter[] = [];
      let order = 0;
      const leave = (waiter: Waiter | undefined) => {
        if (waiter === undefined) return;
        expect(line.remove(waiter)).toBe(true);
        expect(line.remove(waiter)).toBe(false);
        model = model.filter((other) => other !== waiter);
        gone.push(waiter);
      };
      for (const { do: what, value } of steps) {
        if (what === "join") {
          for (let count = 0; count < value; count++) {
            const waiter = { order: ++order };
            line.add(waiter);
            model.push(waiter);
          }
        } else if (what === "return") {
          const [waiter] = gone.splice(value % Math.max(1, gone.length), 1);
          if (waiter === undefined) continue;
          line.add(waiter);
          model.push(waiter);
        } else if (what === "leave") {
          leave(model[value % Math.max(1, model.length)]);
        } else {
          for (let count = 0; count < value; count++) leave(model[0]);
        }
        model.sort((a, b) => a.order - b.order);
        expect([...line]).toEqual(model);
        expect(line.size).toBe(model.length);
      }
      for (const [place, waiter] of model.entries()) {
        expect(line.at(place)).toBe(waiter);
        expect(line.countBefore(waiter)).toBe(place);
        expect(line.countBefore({ order: waiter.order + 0.5 })).toBe(place + 1);
      }
      expect(line.at(model.length)).toBeUndefined();
      expect(line.remove({ order: 0.5 })).toBe(false);
    }),
  );
});
