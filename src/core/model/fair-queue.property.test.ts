import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyState } from "../apply/create.ts";
import { FairQueue } from "./fair-queue.ts";
import type { SpaceName } from "./ids.ts";
import { aheadOfAll, behindAll, compareRank, type Rank } from "./rank.ts";
import { newSpace, type Space } from "./space.ts";

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** `rise` stands for ageing and for an operator's bump: a request changes its line. */
const step = fc.oneof(
  { weight: 4, arbitrary: stepOf("join", 3) },
  { weight: 2, arbitrary: stepOf("leave", 1_000) },
  { weight: 1, arbitrary: stepOf("leave-head", 1_000) },
  { weight: 2, arbitrary: stepOf("share", 3) },
  { weight: 1, arbitrary: stepOf("weight", 3) },
  { weight: 2, arbitrary: stepOf("rise", 1_000) },
);

function stepOf<Kind extends string>(kind: Kind, max: number) {
  return fc.record({ do: fc.constant(kind), value: fc.nat({ max }), space: fc.nat({ max: 5 }) });
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** As `apply` does it. */
function setShare(space: Space, share: number): void {
  (space as Writable<Space>).share = share;
  for (const line of space.lines) line.queue.sortAgain(line);
}

/** Null stands for requests without a space. */
function someSpaces(): (Space | null)[] {
  const named = ["a", "b", "c", "d", "e"].map((name) => newSpace(emptyState(), name as SpaceName));
  return [null, ...named];
}

/** The queue, and an array that is sorted again after each change. */
class Pair {
  readonly queue = new FairQueue<Rank>();
  readonly spaces: readonly (Space | null)[];
  readonly #held = new Map<Space | null, number>();
  readonly #weights = new Map<Space | null, number>();
  #model: Rank[] = [];
  #order = 0;

  constructor(spaces: number) {
    this.spaces = someSpaces().slice(0, spaces);
  }

  get model(): readonly Rank[] {
    return this.#model.sort(compareRank);
  }

  get newcomer(): Rank {
    return { priority: 0, order: this.#order + 1, space: this.spaces.at(-1) ?? null };
  }

  take({ do: what, value, space: index }: Step): void {
    const space = this.spaces[index % this.spaces.length] ?? null;
    switch (what) {
      case "join":
        return this.#join({ priority: value, order: ++this.#order, space });
      case "leave":
        return this.#leave(this.model[value % Math.max(1, this.#model.length)]);
      case "leave-head":
        return this.#leave(this.model[0]);
      case "share":
        this.#held.set(space, value);
        return this.#share(space);
      case "weight":
        this.#weights.set(space, value + 1);
        return this.#share(space);
      case "rise": {
        const risen = this.model[value % Math.max(1, this.#model.length)];
        this.#leave(risen);
        if (risen !== undefined) this.#join({ ...risen, priority: risen.priority + 1 });
      }
    }
  }

  #join(element: Rank): void {
    this.queue.add(element);
    this.#model.push(element);
  }

  #leave(element: Rank | undefined): void {
    if (element === undefined) return;
    this.queue.remove(element);
    this.#model = this.#model.filter((other) => other !== element);
  }

  #share(space: Space | null): void {
    if (space === null) return;
    setShare(space, (this.#held.get(space) ?? 0) / (this.#weights.get(space) ?? 1));
  }
}

const steps = fc.array(step, { maxLength: 150, size: "max" });

describe("FairQueue", () => {
  test.each([
    ["one space", 1],
    ["two spaces", 2],
    ["several spaces", 6],
  ])("with %s keeps the order of an array that is sorted again after each change", (_, count) => {
    fc.assert(
      fc.property(steps, (all) => {
        const pair = new Pair(count);
        for (const one of all) {
          pair.take(one);
          expect([...pair.queue]).toEqual(pair.model);
          expect(pair.queue.size).toBe(pair.model.length);
          expect(pair.queue.at(0)).toBe(pair.model[0]);
        }
        for (const [place, element] of pair.model.entries()) {
          expect(pair.queue.at(place)).toBe(element);
        }
        expect(pair.queue.at(pair.model.length)).toBeUndefined();
      }),
    );
  });

  test.each([
    ["one space", 1],
    ["two spaces", 2],
    ["several spaces", 6],
  ])("with %s counts the waiters ahead, whoever asks and however seldom", (_, count) => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 40 }), (all, every) => {
        const pair = new Pair(count);
        for (const [index, one] of all.entries()) {
          pair.take(one);
          if (index % every === 0) expectCounts(pair);
        }
        expectCounts(pair);
        const waiting = new Set(pair.model.map(({ space }) => space));
        expect(pair.queue.isShared).toBe(waiting.size > 1);
        for (const space of pair.spaces) {
          const own = pair.model.filter((waiter) => waiter.space === space);
          const priorities = new Set(own.map(({ priority }) => priority));
          if (space !== null) expect(space.lines.size).toBe(priorities.size);
        }
      }),
    );
  });

  test("with one space goes on after a removal, and then has the same order", () => {
    fc.assert(
      fc.property(steps, fc.array(fc.boolean(), { minLength: 50 }), (all, removals) => {
        const pair = new Pair(1);
        for (const one of all) pair.take(one);
        const walk = pair.queue.walk();
        for (const [index, element] of [...pair.model].entries()) {
          expect(walk.next()).toBe(element);
          if (removals[index % removals.length] !== true) continue;
          pair.queue.remove(element);
          expect(walk.goOn()).toBe(true);
        }
        expect(walk.next()).toBeUndefined();
      }),
    );
  });

  test("leaves out the rest of a space, in all its priorities", () => {
    fc.assert(
      fc.property(steps, fc.array(fc.boolean(), { minLength: 20 }), (all, skips) => {
        const pair = new Pair(4);
        for (const one of all) pair.take(one);
        const skipped = new Set<Space | null>();
        const walk = pair.queue.walk();
        let visited = 0;
        for (const element of pair.model) {
          if (skipped.has(element.space)) continue;
          expect(walk.next()).toBe(element);
          if (skips[visited++ % skips.length] !== true) continue;
          walk.skipSpace();
          skipped.add(element.space);
        }
        expect(walk.next()).toBeUndefined();
      }),
    );
  });

  test("ignores the removal of a stranger", () => {
    const queue = new FairQueue<Rank>();
    queue.add({ priority: 0, order: 1, space: null });
    queue.remove({ priority: 0, order: 2, space: someSpaces()[1] ?? null });
    queue.remove({ priority: 1, order: 1, space: null });
    expect(queue.size).toBe(1);
  });
});

function expectCounts({ queue, model, newcomer, spaces }: Pair): void {
  const strangers = spaces.flatMap((space) => [
    { ...newcomer, space },
    { priority: 1, order: newcomer.order / 2, space },
  ]);
  for (const rank of [...model, newcomer, aheadOfAll, behindAll, ...strangers]) {
    const ahead = model.filter((other) => compareRank(other, rank) < 0);
    expect(queue.countBefore(rank)).toBe(ahead.length);
    const ofSpace = ahead.filter(({ space }) => space === rank.space);
    expect(queue.countBeforeInSpace(rank)).toBe(ofSpace.length);
    const low = ahead.filter(({ priority }) => priority < 2);
    expect(queue.countBeforeIn(rank, (head) => head.priority < 2)).toBe(low.length);
  }
}

test("compareRank() puts higher priority first, then the lower share, then earlier arrival", () => {
  const [, poor = null, rich = null] = someSpaces();
  if (rich !== null) setShare(rich, 0.5);
  const early = { priority: 0, order: 1, space: rich };
  const late = { priority: 0, order: 2, space: rich };
  const urgent = { priority: 5, order: 3, space: rich };
  const newcomer = { priority: 0, order: 4, space: poor };
  const sorted = [urgent, newcomer, early, late];
  expect([late, newcomer, urgent, early].sort(compareRank)).toEqual(sorted);
});
