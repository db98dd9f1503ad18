import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HistoryEntry, OpenEntry } from "./entry.ts";
import { type Changes, noChanges } from "./fold.ts";
import { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

let store: HistoryStore;
let reader: HistoryReader;

beforeEach(() => {
  store = HistoryStore.inMemory();
  reader = new HistoryReader(store.database);
});

afterEach(() => store.close());

function entry(number: number, more: Partial<HistoryEntry> = {}): HistoryEntry {
  const endedAt = number * 1_000;
  return {
    ...{ number, id: `r${number}`, claim: "1", holder: "job", space: "default", pool: "aws" },
    ...{ purpose: "use" as const, amount: null, asked: null },
    ...{ resource: "aws-1", count: 1, priority: 0, askedAt: endedAt - 900, askedSeq: number },
    ...{ grantedAt: endedAt - 500, waitedFor: null, endedAt, how: "released" },
    ...more,
  };
}

function waiting(id: string, more: Partial<OpenEntry> = {}): OpenEntry {
  return {
    ...{ id, holder: "job", space: "default", priority: 0, items: [{ pool: "aws", count: 1 }] },
    ...{ askedAt: 0, askedSeq: 1, grantedAt: null, claims: [] },
    ...more,
  };
}

function keep(ended: HistoryEntry[], open: OpenEntry[] = [], sizes: [number, number][] = []): void {
  const changes: Changes = {
    ...noChanges(),
    ended,
    touched: new Set(open.map(({ id }) => id)),
    sizes: new Map(sizes.map(([at, size]) => [String(at), { pool: "aws", at, size }])),
  };
  store.save(1, changes, new Map(open.map((each) => [each.id, each])));
}

const numbers = (items: Iterable<HistoryEntry>) => Array.from(items, ({ number }) => number);

describe("HistoryReader", () => {
  const some = [
    entry(1),
    entry(2, { pool: "gcp", resource: "gcp-1" }),
    entry(5, { holder: "other" }),
    entry(6, { how: "expired", endedAt: 5_000 }),
    entry(9, { resource: "aws-2" }),
  ];

  test.each([
    ["everything, the latest first", {}, [9, 6, 5, 2, 1]],
    ["of a pool", { pool: "gcp" }, [2]],
    ["of a resource", { resource: "aws-2" }, [9]],
    ["of a holder", { holder: "other" }, [5]],
    ["of one end", { how: "expired" }, [6]],
    ["of several ends", { how: "expired,cancelled" }, [6]],
    ["of a request", { id: "r1" }, [1]],
    ["from a time on", { since: 5_000 }, [9, 6, 5]],
    ["until a time", { until: 5_000 }, [2, 1]],
    ["between two times", { since: 1_001, until: 9_000 }, [6, 5, 2]],
    ["of a time when nothing ended", { since: 9_001 }, []],
    ["of several at once", { pool: "aws", holder: "job", until: 9_000 }, [6, 1]],
  ])("finds %s", (_, filter, wanted) => {
    keep(some);
    expect(numbers(reader.page(filter, 100).items)).toEqual(wanted);
  });

  test("returns pages without gaps or duplicates while entries are added", () => {
    keep(some.slice(0, 4));
    const first = reader.page({}, 2);
    expect([numbers(first.items), first.next]).toEqual([[6, 5], "5"]);
    keep(some.slice(4));
    const second = reader.page({}, 2, first.next ?? "");
    expect([numbers(second.items), second.next]).toEqual([[2, 1], null]);
  });

  test("returns no second page if there are no entries", () => {
    expect(reader.page({ since: 5 }, 10)).toEqual({ items: [], next: null });
  });
});

describe("stats()", () => {
  const range = { from: 0, to: 10_000, stepMs: 5_000 };

  test("counts each event at its time, and utilisation as the share of held time", () => {
    const late = { grantedAt: 1_000, askedAt: 500, endedAt: 7_000 };
    const left = { grantedAt: null, claim: null, resource: null, count: 2, how: "cancelled" };
    keep(
      [
        entry(2), // Requested at 1.1 s, granted at 1.5 s, ended at 2 s.
        entry(7, { ...late, how: "expired" }),
        entry(8, { ...left, askedAt: 6_000, endedAt: 8_000 }),
      ],
      [waiting("held", { askedAt: 8_000, grantedAt: 9_000, claims: [heldClaim] })],
      [[0, 2]],
    );
    const { total, steps } = reader.stats(range, "aws");
    expect(steps).toMatchObject([
      { at: 0, asked: 2, granted: 2, ended: 1, expired: 0, left: 0, utilisation: 0.45 },
      { at: 5_000, asked: 3, granted: 1, ended: 1, expired: 1, left: 2, utilisation: 0.3 },
    ]);
    expect(steps[0]?.waitMs).toMatchObject({ p50: 400, p90: 500, max: 500, mean: 450 });
    expect(steps[1]?.holdMs).toMatchObject({ p50: 6_000, p99: 6_000 });
    expect(total).toMatchObject({ asked: 5, granted: 3, ended: 2, left: 2, utilisation: 0.375 });
    // Of the two that left after 2 s, and of one that was granted after its first 1 s.
    expect(steps.map(({ waitedMs }) => waitedMs)).toEqual([900, 5_000]);
    expect(reader.statsByPool({ ...range, to: 7_000 }).get("aws")?.waitedMs).toBe(900 + 2_000);
    expect(total.endedPerHour).toBe(720);
  });

  test("follows the size of a pool", () => {
    keep(
      [entry(10, { grantedAt: 0, askedAt: 0 })],
      [],
      [
        [0, 1],
        [5_000, 4],
      ],
    );
    const { steps, total } = reader.stats(range);
    expect(steps.map(({ utilisation }) => utilisation)).toEqual([1, 0.25]);
    expect(total.utilisation).toBe(0.4);
  });

  test("returns null for a time without entries or resources", () => {
    const { total, steps } = reader.stats({ from: 0, to: 100, stepMs: 60 });
    expect(steps.map(({ at }) => at)).toEqual([0, 60]);
    expect(total).toMatchObject({ asked: 0, waitMs: null, holdMs: null, utilisation: null });
  });
});

const heldClaim = { claim: "1", pool: "aws", resource: "aws-1" };
