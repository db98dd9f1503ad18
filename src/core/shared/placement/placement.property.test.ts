/**
 * Compares with brute force: a set is found exactly if one exists, and it always satisfies the
 * demand.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { strategies } from "../../model/strategies.ts";
import { sets } from "./choose.ts";
import type { Demand, Placing } from "./demand.ts";
import { isFitting, place, searchMax } from "./plan.ts";
import { anybody, poolOf, shared, wanted } from "./shareable.suite.ts";
import type { Shareable } from "./shareable.ts";

const amounts = (max: number) => fc.record({ vcpus: fc.nat(max), memory: fc.nat(max) });

const resources = fc
  .array(
    fc.record({
      capacity: amounts(6),
      labels: fc.record(
        { vcenter: fc.constantFrom("a", "b", "c"), rack: fc.constantFrom("1", "2", "3") },
        { requiredKeys: [] },
      ),
    }),
    { maxLength: 6 },
  )
  .map((texts) => texts.map((text, index) => shared(`r${index}`, text, index)));

const demand: fc.Arbitrary<Demand> = fc
  .record({
    count: fc.integer({ min: 1, max: 4 }),
    amount: amounts(4),
    spread: fc.option(fc.constantFrom("vcenter", "rack"), { nil: undefined }),
    atMost: fc.option(
      fc.dictionary(fc.constantFrom("vcenter", "rack"), fc.integer({ min: 1, max: 3 })),
      { nil: undefined },
    ),
    strategy: fc.constantFrom(...strategies),
  })
  .map(({ count, amount, spread, atMost, strategy }) => {
    const placing: Placing = {
      amount,
      strategy,
      ...(spread === undefined ? undefined : { spread }),
      ...(atMost === undefined ? undefined : { atMost }),
    };
    return wanted(placing, count);
  });

const distinct = (set: readonly Shareable[], label: string) =>
  new Set(set.flatMap(({ labels }) => labels[label] ?? [])).size;

function satisfies(set: readonly Shareable[], { count, placing }: Demand): boolean {
  const { spread, atMost = {} } = placing;
  if (set.length !== count || new Set(set).size !== count) return false;
  if (spread !== undefined && distinct(set, spread) !== count) return false;
  return Object.entries(atMost).every(([label, max]) => distinct(set, label) <= max);
}

/** All subsets of this size. */
function subsets(all: readonly Shareable[], size: number): Shareable[][] {
  if (size === 0) return [[]];
  return all.flatMap((one, index) =>
    subsets(all.slice(index + 1), size - 1).map((rest) => [one, ...rest]),
  );
}

/** Whether each resource has room for the amounts that are placed on it. */
function holds(
  all: readonly Shareable[],
  demands: readonly Demand[],
  sets: readonly Shareable[][],
): boolean {
  return all.every(({ levels }, index) =>
    levels.every(({ name, capacity }) => {
      const put = demands.map(({ placing }, which) => {
        const here = sets[which]?.includes(all[index] as Shareable) === true;
        return here ? (placing.amount?.[name] ?? 0) : 0;
      });
      return put.reduce((sum, amount) => sum + amount, 0) <= capacity;
    }),
  );
}

test("sets() has every set that would do, the best first", () => {
  fc.assert(
    fc.property(resources, demand, (all, one) => {
      const fit = all.filter((candidate) => isFitting(candidate, one, anybody));
      const want = subsets(fit, one.count).filter((set) => satisfies(set, one));
      expect([...sets(fit, one, { left: searchMax })]).toEqual(want);
    }),
    { numRuns: 2_000 },
  );
});

test("one demand is placed exactly when some set of resources would do", () => {
  fc.assert(
    fc.property(resources, demand, (all, one) => {
      const fit = all.filter((candidate) => isFitting(candidate, one, anybody));
      const possible = subsets(fit, one.count).some((set) => satisfies(set, one));
      const found = place(poolOf(all), [one], anybody)?.[0];
      expect(found !== undefined).toBe(possible);
      if (found === undefined) return;
      expect(satisfies(found, one)).toBe(true);
      expect(holds(all, [one], [found])).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test("several demands are placed exactly when some sets would do together", () => {
  fc.assert(
    fc.property(resources, fc.array(demand, { minLength: 2, maxLength: 3 }), (all, demands) => {
      const tryAll = (rest: readonly Demand[], sets: Shareable[][]): boolean => {
        const [next, ...others] = rest;
        if (next === undefined) return holds(all, demands, sets);
        return subsets(all, next.count)
          .filter((set) => satisfies(set, next))
          .some((set) => tryAll(others, [...sets, set]));
      };
      const found = place(poolOf(all), demands, anybody);
      expect(found !== undefined).toBe(tryAll(demands, []));
      if (found === undefined) return;
      for (const [index, set] of found.entries()) {
        expect(satisfies(set, demands[index] as Demand)).toBe(true);
      }
      expect(holds(all, demands, found)).toBe(true);
    }),
    { numRuns: 600 },
  );
});

/** Checks `least-used` against its definition. */
test("least-used gives the resources with the least sum of usages, the first of equals", () => {
  const used = fc.array(amounts(3), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(used, fc.integer({ min: 1, max: 3 }), (texts, count) => {
      const all = texts.map((one, index) =>
        shared(`r${index}`, { capacity: { vcpus: 4, memory: 4 }, used: one }, index),
      );
      const ask = wanted({ amount: { vcpus: 1, memory: 1 } }, count);
      const sum = (index: number) => ((texts[index]?.vcpus ?? 0) + (texts[index]?.memory ?? 0)) / 4;
      const want = [...all.keys()].sort((a, b) => sum(a) - sum(b) || a - b).slice(0, count);
      const found = place(poolOf(all), [ask], anybody)?.[0]?.map(({ order }) => order);
      expect(found).toEqual(all.length < count ? undefined : want);
    }),
  );
});
