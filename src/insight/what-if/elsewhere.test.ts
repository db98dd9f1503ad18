import { expect, test } from "vitest";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { Amounts } from "../../core/shared/placement/shareable.ts";
import type { HistoryEntry, PoolSize } from "../history/entry.ts";
import { elsewhere } from "./elsewhere.ts";

const minuteMs = 60_000;

/** Held by the space web from the first minute on, for two. */
function held(name: string, amount: Amounts | null = null): HistoryEntry {
  const times = { askedAt: 0, grantedAt: minuteMs, endedAt: 3 * minuteMs };
  return { purpose: "use", space: "web", pool: name, amount, ...times } as unknown as HistoryEntry;
}

/** The parts that the space web holds, in hundredths, and when they begin. */
function partsOf(ended: readonly HistoryEntry[], sizes: readonly PoolSize[] = []) {
  const limit = pool("limit", 0, { limit: 4 });
  const below = pool("below", 10, { parent: "limit" as PoolName });
  const shared = pool("shared", 2, { placement: { strategy: "pack" } });
  const run = elsewhere({
    ...{ from: 0, to: 10 * minuteMs, open: [], sizes, ended: () => ended },
    pools: [pool("own", 10), limit, below, shared],
    reached: new Set(["own"]),
    spaces: new Set(["web"]),
    lifetimeMs: Number.POSITIVE_INFINITY,
  });
  for (;;) {
    const step = run.next();
    if (!step.done) continue;
    return step.value.demand.map(({ askedAt, items, ends }) => {
      return [askedAt, items[0]?.amount?.["part"], ends[0]?.afterMs];
    });
  }
}

test("elsewhere() has the largest part of any pool that is not replayed, while it was held", () => {
  expect(partsOf([held("below"), held("own")])).toEqual([[minuteMs, 25, 2 * minuteMs]]);
});

test("elsewhere() counts a limit above a pool, of which a claim is a larger part", () => {
  expect(partsOf([held("below"), held("below")])[0]?.[1]).toBe(50);
});

test("elsewhere() counts the fullest dimension of a shared pool", () => {
  const sizes = [{ pool: "shared", at: 0, size: 2, capacity: { vcpus: 64, memory: 512 } }];
  expect(partsOf([held("shared", { vcpus: 8, memory: 256 })], sizes)[0]?.[1]).toBe(50);
});
