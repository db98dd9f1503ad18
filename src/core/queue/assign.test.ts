import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Selection } from "../model/selection.ts";
import { assign } from "./assign.ts";

interface Thing {
  readonly name: number;
}

const selection = (key: string, count: number): Selection => ({
  ...{ key, count, selector: {}, resource: undefined },
});

/** By Hall's theorem: every set of selections has as many candidates together as it wants. */
function suffices(wants: readonly { count: number; of: readonly number[] }[]): boolean {
  for (let set = 1; set < 1 << wants.length; set++) {
    const some = wants.filter((_, index) => (set >> index) & 1);
    const candidates = new Set(some.flatMap(({ of }) => of));
    if (candidates.size < some.reduce((sum, { count }) => sum + count, 0)) return false;
  }
  return true;
}

describe("assign()", () => {
  test("gives each selection its own resources if and only if there are enough", () => {
    const want = fc.record({
      count: fc.integer({ min: 1, max: 4 }),
      of: fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(fc.array(want, { minLength: 1, maxLength: 6 }), (wants) => {
        const things = Array.from({ length: 12 }, (_, name): Thing => ({ name }));
        const selections = wants.map(({ count }, index) => selection(`s${index}`, count));
        const matching = (one: Selection) =>
          things.filter(({ name }) => wants[selections.indexOf(one)]?.of.includes(name));
        const found = assign(selections, matching);
        expect(found !== undefined).toBe(suffices(wants));
        if (found === undefined) return;
        const all = [...found.values()].flat();
        expect(new Set(all).size).toBe(all.length);
        for (const one of selections) {
          const given = found.get(one) ?? [];
          expect(given).toHaveLength(one.count);
          expect(matching(one)).toEqual(expect.arrayContaining([...given]));
        }
      }),
    );
  });

  test("takes those that are idle longest", () => {
    const things = Array.from({ length: 5 }, (_, name): Thing => ({ name }));
    const one = selection("all", 3);
    expect(assign([one], () => things)?.get(one)).toEqual(things.slice(0, 3));
  });

  test("selections with the same conditions share the resources", () => {
    const things = Array.from({ length: 5 }, (_, name): Thing => ({ name }));
    const [a, b] = [selection("all", 2), selection("all", 3)];
    const found = assign([a, b], () => things);
    expect([found?.get(a), found?.get(b)]).toEqual([things.slice(0, 2), things.slice(2)]);
  });

  test("answers for sixteen thousand resources that each match one selection more", () => {
    const count = 1_000;
    const things = Array.from({ length: 16 * count }, (_, name): Thing => ({ name }));
    const selections = Array.from({ length: 16 }, (_, index) => selection(`s${index}`, count));
    // The last selections match only what the first ones take, so that all of these must move.
    const matching = (one: Selection) => things.slice(0, (16 - selections.indexOf(one)) * count);
    expect(assign(selections, matching)?.size).toBe(16);
    const lacks = [...selections.slice(0, 15), selection("s15", count + 1)];
    expect(assign(lacks, (one) => (one.key === "s15" ? things : matching(one)))).toBeUndefined();
  });
});
