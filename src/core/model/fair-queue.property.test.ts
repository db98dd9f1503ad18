import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyState } from "../apply/create.ts";
import { FairQueue } from "./fair-queue.ts";
import type { SpaceName } from "./ids.ts";
import { compareRank, type Rank } from "./rank.ts";
import { newSpace, type Space } from "./space.ts";

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const step = fc.oneof(
  fc.record({
    do: fc.constant("join" as const),
    value: fc.integer({ min: -2, max: 2 }),
    space: fc.nat({ max: 3 }),
  }),
  fc.record({ do: fc.constant("leave" as const), value: fc.nat(), space: fc.constant(0) }),
  fc.record({
    do: fc.constant("share" as const),
    value: fc.nat({ max: 4 }),
    space: fc.nat({ max: 3 }),
  }),
);

/** As `apply` does it. */
function setShare(space: Space, share: number): void {
  for (const line of space.lines) line.queue.detach(line);
  (space as Writable<Space>).share = share;
  for (const line of space.lines) line.queue.attach(line);
}

/** Null stands for requests without a space. */
function fourSpaces(): (Space | null)[] {
  const named = ["a", "b", "c"].map((name) => newSpace(emptyState(), name as SpaceName));
  return [null, ...named];
}

describe("FairQueue", () => {
  test.each([
    ["one space", 1],
    ["several spaces", 4],
  ])("with %s keeps the order of an array that is sorted again after each change", (_, count) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: "max" }), (steps) => {
        const spaces = fourSpaces().slice(0, count);
        const queue = new FairQueue<Rank>();
        let model: Rank[] = [];
        let order = 0;
        for (const { do: what, value, space: index } of steps) {
          const space = spaces[index % count] ?? null;
          if (what === "share") {
            if (space !== null) setShare(space, value / 4);
          } else if (what === "join") {
            const element = { priority: value, order: ++order, space };
            queue.add(element);
            model.push(element);
          } else {
            const element = model[value % Math.max(1, model.length)];
            if (element === undefined) continue;
            queue.remove(element);
            model = model.filter((other) => other !== element);
          }
          model.sort(compareRank);
          expect([...queue]).toEqual(model);
          expect(queue.size).toBe(model.length);
          expect(queue.at(0)).toBe(model[0]);
        }
        for (const [place, element] of model.entries()) {
          expect(queue.at(place)).toBe(element);
          expect(queue.countBefore(element)).toBe(place);
        }
        expect(queue.at(model.length)).toBeUndefined();
        const newcomer = { priority: 0, order: order + 1, space: spaces.at(-1) ?? null };
        const before = model.filter((other) => compareRank(other, newcomer) < 0).length;
        expect(queue.countBefore(newcomer)).toBe(before);
        const waiting = new Set(model.map(({ space }) => space));
        expect(queue.isShared).toBe(waiting.size > 1);
        for (const space of spaces) {
          if (space !== null) expect(space.lines.size).toBe(waiting.has(space) ? 1 : 0);
        }
      }),
    );
  });

  test("leaves out the rest of a space", () => {
    const [, a = null, b = null] = fourSpaces();
    const queue = new FairQueue<Rank>();
    const waiters = [a, a, b, b].map((space, index) => ({ priority: 0, order: index, space }));
    for (const waiter of waiters) queue.add(waiter);
    if (b !== null) setShare(b, 0.5);
    const walk = queue.walk();
    expect(walk.next()).toBe(waiters[0]);
    walk.skipSpace();
    expect([walk.next(), walk.next(), walk.next()]).toEqual([waiters[2], waiters[3], undefined]);
  });

  test("ignores the removal of a stranger", () => {
    const queue = new FairQueue<Rank>();
    queue.add({ priority: 0, order: 1, space: null });
    queue.remove({ priority: 0, order: 2, space: fourSpaces()[1] ?? null });
    expect(queue.size).toBe(1);
  });
});

test("compareRank() puts higher priority first, then the lower share, then earlier arrival", () => {
  const [, poor = null, rich = null] = fourSpaces();
  if (rich !== null) setShare(rich, 0.5);
  const early = { priority: 0, order: 1, space: rich };
  const late = { priority: 0, order: 2, space: rich };
  const urgent = { priority: 5, order: 3, space: rich };
  const newcomer = { priority: 0, order: 4, space: poor };
  const sorted = [urgent, newcomer, early, late];
  expect([late, newcomer, urgent, early].sort(compareRank)).toEqual(sorted);
});
