import { expect, test } from "vitest";
import type { HistoryEntry, OpenEntry, PoolSize } from "./entry.ts";
import { samplesOf } from "./samples.ts";

const times = { from: 100, stepMs: 10, count: 5 };

const ended = (facts: Partial<HistoryEntry>) =>
  ({
    ...{ id: "a", pool: "aws", purpose: "use", askedAt: 0, grantedAt: 0, endedAt: 1_000 },
    ...facts,
  }) as HistoryEntry;
const open = (facts: Partial<OpenEntry>) =>
  ({ id: "o", askedAt: 0, grantedAt: null, items: [], claims: [], ...facts }) as OpenEntry;

interface Case {
  readonly ended?: HistoryEntry[];
  readonly open?: OpenEntry[];
  readonly sizes?: PoolSize[];
  readonly held: number[];
  readonly waiting: number[];
}

const cases: Record<string, Case> = {
  "a hold from its grant until its end": {
    ended: [ended({ grantedAt: 110, endedAt: 130 })],
    held: [0, 1, 1, 0, 0],
    waiting: [1, 0, 0, 0, 0],
  },
  "a request that left, while it waited": {
    ended: [ended({ grantedAt: null, askedAt: 111, endedAt: 131 })],
    held: [0, 0, 0, 0, 0],
    waiting: [0, 0, 1, 1, 0],
  },
  "two claims of one request, which waited once": {
    ended: [ended({ grantedAt: 120 }), ended({ grantedAt: 120 })],
    held: [0, 0, 2, 2, 2],
    waiting: [1, 1, 0, 0, 0],
  },
  "a lease that goes on": {
    open: [open({ grantedAt: 125, claims: [{ claim: "1", pool: "aws", resource: "aws-1" }] })],
    held: [0, 0, 0, 1, 1],
    waiting: [1, 1, 1, 0, 0],
  },
  "a shared resource once": {
    ended: [
      ended({ resource: "host-1", amount: { cpu: 1 }, endedAt: 115 }),
      ended({ resource: "host-1", amount: { cpu: 1 }, grantedAt: 105, endedAt: 125 }),
      ended({ resource: "host-2", amount: { cpu: 1 }, grantedAt: 120, endedAt: 125 }),
    ],
    held: [1, 1, 2, 0, 0],
    waiting: [0, 0, 0, 0, 0],
  },
  "nothing before the pool was created": {
    ended: [ended({ askedAt: 131, grantedAt: 131 })],
    sizes: [{ pool: "aws", at: 125, size: 1 }],
    held: [0, 1],
    waiting: [0, 0],
  },
  "a pool that nobody used": {
    sizes: [{ pool: "aws", at: 0, size: 1 }],
    held: [0, 0, 0, 0, 0],
    waiting: [0, 0, 0, 0, 0],
  },
  "a request that waits": {
    open: [open({ askedAt: 140, items: [{ pool: "aws", count: 2 }] })],
    held: [0, 0, 0, 0, 0],
    waiting: [0, 0, 0, 0, 1],
  },
};
test.each(Object.entries(cases))("samplesOf() counts %s", (_, row) => {
  const { ended: over = [], open: going = [] } = row;
  const found = samplesOf(times, { ended: over, open: going, sizes: row.sizes ?? [] });
  expect(found).toEqual([{ pool: "aws", held: row.held, waiting: row.waiting }]);
});

test("samplesOf() has the part in use of the fullest dimension, since the capacity is known", () => {
  const host = { pool: "lab", resource: "host-1" };
  const amount = { cpu: 2, memory: 1 };
  const claims = [{ ...host, claim: "1", amount }];
  const [lab] = samplesOf(times, {
    ended: [
      ended({ ...host, grantedAt: 100, endedAt: 125, amount: { cpu: 4 } }),
      ended({ ...host, grantedAt: 130, endedAt: 140, amount: { memory: 9 } }),
    ],
    open: [open({ grantedAt: 120, claims })],
    sizes: [
      { pool: "lab", at: 0, size: 1, capacity: {} },
      { pool: "lab", at: 110, size: 1, capacity: { cpu: 8, memory: 10 } },
      { pool: "lab", at: 131, size: 2, capacity: { cpu: 16, memory: 20 } },
    ],
  });
  expect(lab).toMatchObject({ held: [1, 1, 1, 1, 1], usedPercent: [50, 75, 100, 13] });
});

test("samplesOf() does not count cleaning", () => {
  const cleaned = ended({ purpose: "clean" });
  const cleaning = open({
    grantedAt: 1,
    claims: [{ claim: "1", pool: "aws", resource: "aws-1", purpose: "clean" }],
  });
  expect(samplesOf(times, { ended: [cleaned], open: [cleaning], sizes: [] })).toEqual([]);
});
