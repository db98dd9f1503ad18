import { describe, expect, test } from "vitest";
import { at, left } from "../journal/journal.suite.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { findEvents } from "./event-search.ts";

/** Longer than one search reads. */
const eventCount = 500_100;

const nothing = { askersOf: () => new Map(), membersOf: () => new Set<string>() };

describe("findEvents()", () => {
  test("ends a search after many events, and the next page continues it", async () => {
    const journal = new MemoryJournal();
    const added = { type: "resource-removed", resource: "old" as never } as const;
    await journal.append(0, at(1), [added]);
    for (let head = 1; head < eventCount; head = journal.head) {
      await journal.append(
        head,
        at(1),
        Array.from({ length: 5_000 }, () => left("x")),
      );
    }
    const search = { filter: { resource: "old" }, limit: 10, before: journal.head + 1 };
    const first = await findEvents(journal, search, nothing);
    expect(first.items).toEqual([]);
    const next = first.next ?? 0;
    expect(next).toBeGreaterThan(1);
    const second = await findEvents(journal, { ...search, before: next }, nothing);
    expect(second).toEqual({ items: [{ seq: 1, at: 1, event: added }], next: null });
  });

  test.each([{}, { id: "x" }])(
    "ends when nobody waits for the answer any more: %j",
    async (filter) => {
      const journal = new MemoryJournal();
      await journal.append(
        0,
        at(1),
        Array.from({ length: 20_000 }, () => left("y")),
      );
      const search = { filter, limit: 30_000, before: journal.head + 1 };
      const gone = AbortSignal.abort(new Error("gone"));
      const searching = findEvents(journal, search, nothing, { firstSeq: 1, signal: gone });
      await expect(searching).rejects.toThrow("gone");
    },
  );

  test("does not offer to continue where all earlier events are pruned", async () => {
    const journal = new MemoryJournal();
    for (let head = 0; head < eventCount; head = journal.head) {
      await journal.append(
        head,
        at(1),
        Array.from({ length: 50_000 }, () => left("x")),
      );
    }
    await journal.saveSnapshot({ seq: journal.head - 1, at: at(1), state: "{}" });
    await journal.prune(at(2));
    const search = { filter: { resource: "old" }, limit: 10, before: journal.head + 1 };
    expect(await findEvents(journal, search, nothing)).toEqual({ items: [], next: null });
  });

  test("reads a large commit once, so that one page has all of it", async () => {
    const journal = new MemoryJournal();
    const added = { type: "resource-removed", resource: "old" as never } as const;
    await journal.append(0, at(1), [added, ...Array.from({ length: 20_000 }, () => left("x"))]);
    await journal.append(journal.head, at(2), [added]);
    const search = { filter: { resource: "old" }, limit: 10, before: journal.head + 1 };
    const { items, next } = await findEvents(journal, search, nothing);
    expect(items.map(({ seq }) => seq)).toEqual([20_002, 1]);
    expect(next).toBeNull();
  });

  test.each([
    { since: 3, want: [7, 6, 5] },
    { until: 3, want: [4, 3, 2, 1] },
    { since: 2, until: 3, want: [4, 3] },
    { since: 9, want: [] },
    { until: 1, want: [] },
    { since: 3, limit: 2, want: [7, 6] },
  ])("finds the events of a time: $since to $until", async ({ want, limit = 10, ...time }) => {
    const journal = new MemoryJournal();
    for (const [second, count] of [2, 2, 3].entries()) {
      const events = Array.from({ length: count }, () => left("x"));
      await journal.append(journal.head, at(second + 1), events);
    }
    const since = time.since === undefined ? undefined : at(time.since);
    const until = time.until === undefined ? undefined : at(time.until);
    const search = { filter: {}, limit, before: journal.head + 1, since, until };
    const { items, next } = await findEvents(journal, search, nothing);
    expect(items.map(({ seq }) => seq)).toEqual(want);
    expect(next).toBe(want.length === limit ? want.at(-1) : null);
  });
});
