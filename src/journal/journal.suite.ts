import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DurableEvent } from "../core/model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../core/model/ids.ts";
import type { Instant } from "../core/model/time.ts";
import {
  type Journal,
  JournalConflict,
  JournalPruned,
  type Recorded,
  type Snapshot,
} from "./journal.ts";

/** A place for a journal. A journal that was closed can be opened again here. */
export interface JournalStore {
  open(): Promise<Journal>;
  remove(): Promise<void>;
}

export function at(ms: number): Instant {
  return ms as Instant;
}

/** A short event with an id. */
export function left(id: number | string): DurableEvent {
  return { type: "request-left", id: String(id) as RequestId, why: "cancelled" };
}

export function leftUpTo(count: number): DurableEvent[] {
  return Array.from({ length: count }, (_, index) => left(index + 1));
}

export async function readAll(journal: Journal, seq = 0): Promise<Recorded[]> {
  const commits: Recorded[] = [];
  for await (const commit of journal.read(seq)) commits.push(commit);
  return commits;
}

/** The contract of every engine, so that the broker does not depend on one of them. */
export function journalSuite(name: string, makeStore: () => Promise<JournalStore>): void {
  describe(name, () => {
    let store: JournalStore;
    let journal: Journal;

    beforeEach(async () => {
      store = await makeStore();
      journal = await store.open();
    });

    afterEach(async () => {
      await journal.close();
      await store.remove();
    });

    async function reopen(): Promise<void> {
      await journal.close();
      journal = await store.open();
    }

    async function appendAll(...commits: DurableEvent[][]): Promise<void> {
      for (const [index, events] of commits.entries()) {
        await journal.append(journal.head, at(100 + index), events);
      }
    }

    appending();
    reading();
    snapshots();
    pruning();
    closing();

    function appending(): void {
      test("head is 0 and read() yields nothing if the journal is empty", async () => {
        expect(journal.head).toBe(0);
        expect(await readAll(journal)).toEqual([]);
        expect(await journal.loadSnapshot()).toBeUndefined();
      });

      test("append() returns the number of the last event", async () => {
        expect(await journal.append(0, at(1), [left(1)])).toBe(1);
        expect(await journal.append(1, at(2), leftUpTo(64))).toBe(65);
        expect(journal.head).toBe(65);
      });

      test.each([
        ["behind", 0],
        ["in the middle of the last commit", 2],
        ["ahead", 4],
      ])(
        "append() throws JournalConflict and writes nothing if its head is %s",
        async (_, head) => {
          await appendAll([left(1)], [left(2), left(3)]);
          const before = await readAll(journal);
          await expect(journal.append(head, at(9), [left(9)])).rejects.toThrow(JournalConflict);
          await expect(journal.append(head, at(9), [])).rejects.toThrow(JournalConflict);
          expect(journal.head).toBe(3);
          expect(await readAll(journal)).toEqual(before);
          expect(await journal.append(3, at(10), [left(4)])).toBe(4);
        },
      );

      test("append() lets only one of two calls with the same head succeed", async () => {
        const both = [journal.append(0, at(1), [left(1)]), journal.append(0, at(1), [left(2)])];
        const outcomes = await Promise.allSettled(both);
        expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
        expect(journal.head).toBe(1);
        expect(await readAll(journal)).toHaveLength(1);
      });

      test("append() writes no commit if there are no events", async () => {
        await appendAll([left(1)], []);
        expect(journal.head).toBe(1);
        expect(await readAll(journal)).toHaveLength(1);
      });

      test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY])(
        "append() throws if its instant is %d",
        async (instant) => {
          await expect(journal.append(0, at(instant), [left(1)])).rejects.toThrow(RangeError);
          expect(journal.head).toBe(0);
        },
      );

      test("append() stores the events unchanged if the caller changes them later", async () => {
        const labels: Record<string, string> = { zone: "a" };
        const pool = "p" as PoolName;
        const resource = "r" as ResourceName;
        const events: DurableEvent[] = [{ type: "resource-added", pool, resource, labels }];
        await journal.append(0, at(1), events);
        labels["zone"] = "b";
        events.push(left(1));
        const added = { type: "resource-added", pool, resource, labels: { zone: "a" } };
        expect(await readAll(journal)).toEqual([{ seq: 1, at: at(1), events: [added] }]);
      });
    }

    function reading(): void {
      test("read() yields commits in order, with their instants and events", async () => {
        await appendAll([left(1)], [left(2), left(3)], [left(4)]);
        const want: Recorded[] = [
          { seq: 1, at: at(100), events: [left(1)] },
          { seq: 2, at: at(101), events: [left(2), left(3)] },
          { seq: 4, at: at(102), events: [left(4)] },
        ];
        expect(await readAll(journal)).toEqual(want);
        await reopen();
        expect(journal.head).toBe(4);
        expect(await readAll(journal)).toEqual(want);
      });

      test.each([
        { after: 0, want: [1, 2, 5] },
        { after: 1, want: [2, 5] },
        { after: 2, want: [3, 5] },
        { after: 3, want: [4, 5] },
        { after: 4, want: [5] },
        { after: 5, want: [] },
        { after: 99, want: [] },
      ])("read($after) starts with $want", async ({ after, want }) => {
        await appendAll([left(1)], [left(2), left(3), left(4)], [left(5)]);
        const read = await readAll(journal, after);
        expect(read.map(({ seq }) => seq)).toEqual(want);
        const events = leftUpTo(5).slice(after);
        expect(read.flatMap((commit) => commit.events)).toEqual(events);
      });

      test("read() yields every event once, with many commits of many sizes", async () => {
        const sizes = [1, 700, 2, 511, 513, 1, 1, 1_500, ...Array<number>(600).fill(1)];
        await appendAll(...sizes.map(leftUpTo));
        const read = await readAll(journal);
        expect(read.map(({ events }) => events.length)).toEqual(sizes);
        let next = 1;
        for (const { seq, events } of read) {
          expect(seq).toBe(next);
          next += events.length;
        }
        expect(next).toBe(journal.head + 1);
      });

      test("read() refuses an event that only a newer Berth knows, by its type", async () => {
        const newer = { type: "resource-painted", resource: "aws-1" } as unknown as DurableEvent;
        await appendAll([left(1)], [left(2), newer]);
        await reopen();
        await expect(readAll(journal)).rejects.toMatchObject({
          name: "JournalUnusable",
          message: `Cannot read event 3 of the journal: this Berth does not know the type "resource-painted"`,
          hint: expect.stringContaining("A newer Berth has written it"),
        });
      });

      test("read() continues with commits that are appended while it reads", async () => {
        await appendAll([left(1)]);
        const seen: number[] = [];
        for await (const { seq } of journal.read(0)) {
          seen.push(seq);
          if (seq < 3) await journal.append(journal.head, at(200), [left(seq + 1)]);
        }
        expect(seen).toEqual([1, 2, 3]);
      });

      test("read() can be stopped early, and append() still works", async () => {
        await appendAll([left(1)], [left(2)]);
        for await (const { seq } of journal.read(0)) {
          expect(seq).toBe(1);
          break;
        }
        expect(await journal.append(2, at(3), [left(3)])).toBe(3);
      });

      test("read() yields new objects, so that a reader may change them", async () => {
        await appendAll([left(1)]);
        for await (const { events } of journal.read(0)) Object.assign(events[0] ?? {}, { id: "x" });
        expect(await readAll(journal)).toEqual([{ seq: 1, at: at(100), events: [left(1)] }]);
      });

      test.each([
        "Grüße, 测试, 🚢",
        'quote " backslash \\ slash /',
        "line\nbreak\u2028and\u0000zero",
        "lone \ud83d surrogate",
        "",
      ])("read() returns the text %j unchanged", async (text) => {
        await journal.append(0, at(1), [left(text)]);
        await reopen();
        expect(await readAll(journal)).toEqual([{ seq: 1, at: at(1), events: [left(text)] }]);
      });

      test("read() returns a batch of 20,000 events", async () => {
        const events = leftUpTo(20_000);
        expect(await journal.append(0, at(1), events)).toBe(20_000);
        expect(await readAll(journal)).toEqual([{ seq: 1, at: at(1), events }]);
        expect(await readAll(journal, 19_999)).toEqual([
          { seq: 20_000, at: at(1), events: [left(20_000)] },
        ]);
      });
    }

    function snapshots(): void {
      const first: Snapshot = { seq: 1, at: at(100), state: '{"pools":["ü"]}' };
      const second: Snapshot = { seq: 2, at: at(101), state: `{"x":"${"y".repeat(100_000)}"}` };

      test("loadSnapshot() returns the last saved snapshot", async () => {
        await appendAll([left(1)], [left(2)]);
        await journal.saveSnapshot(first);
        expect(await journal.loadSnapshot()).toEqual(first);
        await journal.saveSnapshot(second);
        await reopen();
        expect(await journal.loadSnapshot()).toEqual(second);
        expect(await readAll(journal)).toHaveLength(2);
      });

      test("saveSnapshot() accepts a snapshot of an empty journal", async () => {
        const empty: Snapshot = { seq: 0, at: at(1), state: "{}" };
        await journal.saveSnapshot(empty);
        expect(await journal.loadSnapshot()).toEqual(empty);
      });

      test("saveSnapshot() throws and keeps the last one if the new one is older or ahead", async () => {
        await appendAll([left(1)], [left(2)]);
        await journal.saveSnapshot(second);
        await expect(journal.saveSnapshot(first)).rejects.toThrow(RangeError);
        await expect(journal.saveSnapshot({ ...second, seq: 3 })).rejects.toThrow(RangeError);
        expect(await journal.loadSnapshot()).toEqual(second);
      });
    }

    function pruning(): void {
      const three = [[left(1)], [left(2), left(3)], [left(4)]]; // At 100, 101 and 102.

      test.each([
        { covers: 4, before: 102, pruned: 2, oldest: 4 },
        { covers: 4, before: 101, pruned: 1, oldest: 2 },
        { covers: 4, before: 100, pruned: 0, oldest: 1 },
        { covers: 2, before: 200, pruned: 1, oldest: 2 }, // Event 3 is not in the snapshot.
        { covers: 3, before: 200, pruned: 2, oldest: 4 },
        // The last commit stays, because it contains the head.
        { covers: 4, before: 200, pruned: 2, oldest: 4 },
      ])("prune($before) removes $pruned commits if the snapshot covers $covers", async (row) => {
        await appendAll(...three);
        await journal.saveSnapshot({ seq: row.covers, at: at(102), state: "{}" });
        expect(await journal.prune(at(row.before))).toBe(row.pruned);
        await reopen();
        expect(journal.head).toBe(4);
        expect((await readAll(journal, row.oldest - 1))[0]?.seq).toBe(row.oldest);
        expect(await journal.append(4, at(103), [left(5)])).toBe(5);
      });

      test("prune() removes nothing if there is no snapshot or no event", async () => {
        expect(await journal.prune(at(200))).toBe(0);
        await appendAll(...three);
        expect(await journal.prune(at(200))).toBe(0);
        expect(await readAll(journal)).toHaveLength(3);
      });

      test("prune() removes the oldest commits while the journal has too many bytes", async () => {
        const large = Array.from({ length: 1_500 }, (_, index) => [left(`${index}`.repeat(99))]);
        await appendAll(...large);
        await journal.saveSnapshot({ seq: 1_499, at: at(9_999), state: "{}" });
        const bytesMax = Math.floor(journal.bytes / 2);
        const pruned = await journal.prune(at(0), bytesMax);
        expect(journal.bytes).toBeLessThanOrEqual(bytesMax);
        expect(pruned).toBeGreaterThan(0);
        expect(pruned).toBeLessThan(1_499);
        expect((await readAll(journal, pruned))[0]?.seq).toBe(pruned + 1);
        expect(await journal.prune(at(0), 0)).toBe(1_499 - pruned); // The last one has no snapshot.
        await reopen();
        expect(await readAll(journal, 1_499)).toHaveLength(1);
      });

      test("prune() leaves no gap if a clock ran backwards", async () => {
        for (const [index, ms] of [10, 90, 20, 95].entries()) {
          await journal.append(index, at(ms), [left(index)]);
        }
        await journal.saveSnapshot({ seq: 4, at: at(95), state: "{}" });
        expect(await journal.prune(at(50))).toBe(1);
        expect(await readAll(journal, 1)).toHaveLength(3);
      });

      test.each([
        { text: '"b"', from: 1, to: 9, want: [2, 4] },
        { text: '"b"', from: 3, to: 9, want: [2, 4] }, // The first commit has event 3 too.
        { text: '"b"', from: 4, to: 9, want: [4] },
        { text: '"b"', from: 1, to: 3, want: [2] },
        { text: "", from: 1, to: 9, want: [1, 2, 4] },
        { text: '"B"', from: 1, to: 9, want: [] },
        { text: '"%"', from: 1, to: 9, want: [] },
      ])("search($text) returns the commits from $from to $to with it: $want", async (row) => {
        await appendAll([left("a")], [left("b"), left("c")], [left("b")]);
        const found = await journal.search(row.text, row.from, row.to);
        expect(found.map(({ seq }) => seq)).toEqual(row.want);
        for (const { seq, at: time, events } of found) {
          const all = await readAll(journal);
          expect({ seq, at: time, events }).toEqual(all.find((commit) => commit.seq === seq));
        }
      });

      test("search() leaves out pruned commits", async () => {
        await appendAll([left("a")], [left("a")], [left("a")]);
        await journal.saveSnapshot({ seq: 2, at: at(9_999), state: "{}" });
        expect(await journal.prune(at(9_999))).toBe(2);
        expect(await journal.search('"a"', 1, 3)).toHaveLength(1);
      });

      test("read() throws JournalPruned if a requested event was pruned", async () => {
        await appendAll(...Array.from({ length: 1_300 }, () => [left(1)]));
        await journal.saveSnapshot({ seq: 1_300, at: at(9_999), state: "{}" });
        expect(await journal.prune(at(9_999))).toBe(1_299);
        await expect(readAll(journal)).rejects.toThrow(JournalPruned);
        await expect(readAll(journal, 1_298)).rejects.toThrow(JournalPruned);
        expect(await readAll(journal, 1_299)).toHaveLength(1);
        expect(await readAll(journal, 1_300)).toEqual([]);
      });
    }

    function closing(): void {
      test("secret is long, and the same whenever the journal is opened", async () => {
        const { secret } = journal;
        expect(secret).toMatch(/^[\w-]{43}$/);
        await reopen();
        expect(journal.secret).toBe(secret);
      });

      test("every call except close() throws after the journal was closed", async () => {
        await appendAll([left(1)]);
        await journal.close();
        await journal.close();
        const closed = /^Cannot .* the journal: it is closed$/;
        await expect(journal.append(1, at(1), [left(2)])).rejects.toThrow(closed);
        await expect(journal.append(1, at(1), [])).rejects.toThrow(closed);
        await expect(readAll(journal)).rejects.toThrow(closed);
        await expect(journal.saveSnapshot({ seq: 1, at: at(1), state: "" })).rejects.toThrow(
          closed,
        );
        await expect(journal.search("1", 1, 1)).rejects.toThrow(closed);
        await expect(journal.loadSnapshot()).rejects.toThrow(closed);
        await expect(journal.prune(at(1))).rejects.toThrow(closed);
      });
    }
  });
}
