import fc from "fast-check";
import { expect, test } from "vitest";
import { DueHeap, type Timed } from "./collections.ts";
import { type Instant, never } from "./time.ts";

const step = fc.oneof(
  fc.record({ do: fc.constant("set" as const), who: fc.nat(19), dueAt: fc.nat(30) }),
  fc.record({ do: fc.constant("clear" as const), who: fc.nat(19), dueAt: fc.constant(0) }),
);

test("DueHeap returns the earliest after any set, move and clear", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const heap = new DueHeap<Timed>();
      const elements = Array.from({ length: 20 }, () => ({ dueAt: never, heapIndex: -1 }));
      const model = new Map<Timed, number>();
      for (const { do: what, who, dueAt } of steps) {
        const element = elements[who];
        if (element === undefined) continue;
        if (what === "set") {
          heap.set(element, dueAt as Instant);
          model.set(element, dueAt);
        } else {
          heap.clear(element);
          model.delete(element);
        }
        expect(heap.size).toBe(model.size);
        const earliest = Math.min(...model.values());
        expect(heap.first()?.dueAt).toBe(model.size === 0 ? undefined : earliest);
        for (const other of elements) {
          expect(other.heapIndex >= 0).toBe(model.has(other));
          expect(other.dueAt).toBe(model.get(other) ?? never);
        }
      }
      const emptied: number[] = [];
      for (let first = heap.first(); first !== undefined; first = heap.first()) {
        emptied.push(first.dueAt);
        heap.clear(first);
      }
      expect(emptied).toEqual([...model.values()].sort((a, b) => a - b));
    }),
  );
});

test("DueHeap lets what takes the place of a cleared one rise where it is the earlier one", () => {
  const heap = new DueHeap<Timed>();
  const elements = [0, 10, 1, 11, 12, 2, 3].map((dueAt) => {
    const element: Timed = { dueAt: never, heapIndex: -1 };
    heap.set(element, dueAt as Instant);
    return element;
  });
  const [, , , eleven] = elements;
  if (eleven !== undefined) heap.clear(eleven);
  const order: number[] = [];
  for (let first = heap.first(); first !== undefined; first = heap.first()) {
    order.push(first.dueAt);
    heap.clear(first);
  }
  expect(order).toEqual([0, 1, 2, 3, 10, 12]);
});
