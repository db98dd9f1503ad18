/** What must always be true between spaces, over any history. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkState } from "../../../sim/invariants.ts";
import type { PoolName, RequestId, SpaceName } from "../model/ids.ts";
import { anySpace } from "../model/space.ts";
import type { Pool } from "../model/state.ts";
import { acquire, Lending, pool, release, runTo } from "./lending.suite.ts";

const aws = "aws" as PoolName;
const names = ["a", "b", "c"] as SpaceName[] as [SpaceName, SpaceName, SpaceName];

interface World {
  readonly size: number;
  readonly weights: readonly number[];
  readonly quotas: readonly number[];
  readonly steps: readonly {
    readonly space: number;
    readonly priority: number;
    readonly end: number;
  }[];
}

const world = fc.record<World>({
  size: fc.integer({ min: 1, max: 12 }),
  weights: fc.array(fc.constantFrom(1, 1, 2, 3), { minLength: 3, maxLength: 3 }),
  quotas: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 3, maxLength: 3 }),
  steps: fc.array(
    fc.record({ space: fc.nat(2), priority: fc.constantFrom(0, 0, 1), end: fc.nat(30) }),
    { maxLength: 120 },
  ),
});

function lending({ size, weights, quotas }: World, cohort: boolean | null): Lending {
  const pools = [pool("aws", size, { ttlMs: 86_400_000 })];
  const made = new Lending(...pools);
  const spaces = names.map((name, index) => ({
    name,
    policy: {
      weight: weights[index] ?? 1,
      quotas: cohort === null ? [] : [{ pool: aws, max: quotas[index] ?? 1 }],
      ...(cohort === true ? { cohort: "all" } : undefined),
    },
  }));
  made.do({ type: "configure", pools, spaces: { ...anySpace, spaces } });
  return made;
}

/** Ends one lease, by its place among all; nothing if there are fewer. */
function endSome(made: Lending, place: number): void {
  const id = [...made.state.leases.keys()][place];
  if (id !== undefined) made.do(release(id));
}

const heldBy = (made: Lending, name: SpaceName) => {
  return [...made.state.leases.values()].filter(({ ask }) => ask.space === name).length;
};

test("backlogged spaces hold their shares within one grant, and none starves", () => {
  fc.assert(
    fc.property(world, (given) => {
      const made = lending(given, null);
      for (const [index, { space, end }] of given.steps.entries()) {
        made.do(
          acquire(`past-${index}`, "aws", { space: names[space] ?? (names[0] as SpaceName) }),
        );
        endSome(made, end);
      }
      // From now on every space has more requests than there are resources.
      for (const name of names) {
        for (let index = 0; index < 40; index++)
          made.do(acquire(`${name}-${index}`, "aws", { space: name }));
      }
      for (const id of [...made.state.leases.keys()]) made.do(release(id));
      // No space holds more than it would have got after the others: each is within one grant.
      const shareOf = (name: SpaceName, more: number) => {
        return (heldBy(made, name) + more) / (given.weights[names.indexOf(name)] ?? 1);
      };
      for (const one of names) {
        for (const other of names) {
          expect(shareOf(one, -1), `${one} beside ${other}`).toBeLessThanOrEqual(shareOf(other, 0));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("no space starves where starts are scarce, whatever it holds elsewhere", () => {
  const minuteMs = 60_000;
  const patienceMs = 5 * minuteMs;
  const scarce = fc.record({
    weights: fc.array(fc.constantFrom(1, 2, 5), { minLength: 3, maxLength: 3 }),
    held: fc.array(fc.nat(4), { minLength: 3, maxLength: 3 }),
    /** In each minute, who asks; each start is needed for this many minutes. */
    asks: fc.array(fc.record({ space: fc.nat(2), forMinutes: fc.nat(3) }), {
      minLength: 120,
      maxLength: 120,
    }),
  });
  fc.assert(
    fc.property(scarce, ({ weights, held, asks }) => {
      const ttlMs = 86_400_000;
      const pace = { everyMs: minuteMs, burst: 1, jitter: 0 };
      const pools = [pool("lab", 12, { ttlMs }), pool("aws", 50, { ttlMs, pace, patienceMs })];
      const made = new Lending(...pools);
      const spaces = names.map((name, at) => ({
        name,
        policy: { weight: weights[at] ?? 1, quotas: [] },
      }));
      made.do({ type: "configure", pools, spaces: { ...anySpace, spaces } });
      for (const [at, count] of held.entries()) {
        if (count > 0)
          made.do(acquire(`lab-${at}`, `lab:${count}`, { space: names[at] ?? names[0] }));
      }
      // Every space waits all the time.
      for (const name of names) {
        for (let at = 0; at < 50; at++) made.do(acquire(`${name}-${at}`, "aws", { space: name }));
      }
      const lastAt = new Map<string, number>(names.map((name) => [name, made.now]));
      for (const [minute, { space, forMinutes }] of asks.entries()) {
        made.do(acquire(`more-${minute}`, "aws", { space: names[space] ?? names[0] }));
        runTo(made, made.now + minuteMs);
        for (const { id, ask, grantedAt, claims } of [...made.state.leases.values()]) {
          if (claims[0]?.resource.pool.name !== aws) continue;
          lastAt.set(ask.space ?? "", Math.max(lastAt.get(ask.space ?? "") ?? 0, grantedAt));
          if (made.now - grantedAt >= forMinutes * minuteMs) made.do(release(id));
        }
        // One start for each other space may come first.
        for (const name of names) {
          const isHolding = made.state.spaces.get(name)?.held.has(poolOf(made)) === true;
          const waitMs = isHolding ? 0 : made.now - (lastAt.get(name) ?? 0);
          expect(waitMs, `${name} waits`).toBeLessThanOrEqual(patienceMs + 4 * minuteMs);
        }
      }
    }),
    { numRuns: 25 },
  );
});

function poolOf({ state }: Lending): Pool {
  const found = state.pools.get(aws);
  if (found === undefined) throw new Error("Cannot look: there is no aws");
  return found;
}

test("with one space requests are granted by priority, then by arrival", () => {
  fc.assert(
    fc.property(world, (given) => {
      const made = lending({ ...given, size: 1 }, null);
      made.do(acquire("first", "aws", { space: names[0] as SpaceName }));
      const wanted = given.steps.map(({ priority }, index) => ({ id: `r${index}`, priority }));
      for (const { id, priority } of wanted) {
        made.do(acquire(id, "aws", { priority, space: names[0] as SpaceName }));
      }
      const order = wanted.toSorted((a, b) => b.priority - a.priority).map(({ id }) => id);
      const got: string[] = [];
      for (let id = "first"; ; ) {
        made.do(release(id));
        const [next] = made.state.leases.keys();
        if (next === undefined) break;
        got.push(next);
        id = next;
      }
      expect(got).toEqual(order);
    }),
    { numRuns: 40 },
  );
});

test.each([false, true])("no grant exceeds a quota; in a cohort (%s), not their sum", (cohort) => {
  fc.assert(
    fc.property(world, (given) => {
      const made = lending(given, cohort);
      const sum = given.quotas.reduce((all, quota) => all + quota, 0);
      for (const [index, { space, priority, end }] of given.steps.entries()) {
        const id = `r${index}` as RequestId;
        made.do(acquire(id, "aws", { priority, space: names[space] ?? (names[0] as SpaceName) }));
        endSome(made, end);
        for (const [place, name] of names.entries()) {
          const max = cohort ? sum : (given.quotas[place] ?? 1);
          expect(heldBy(made, name)).toBeLessThanOrEqual(max);
        }
        expect(made.state.leases.size).toBeLessThanOrEqual(Math.min(given.size, sum));
        checkState(made.state, made.now);
      }
      // Nothing is idle beside a request that its own quota allows.
      if (made.state.leases.size < Math.min(given.size, sum) && cohort) {
        expect(made.state.requests.size).toBe(0);
      }
    }),
    { numRuns: 60 },
  );
});
