import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { brokerOf, openBroker, type TestBroker } from "../../broker/test-broker.suite.ts";
import { acquire, pool, release } from "../../core/decide/lending.suite.ts";
import { MemoryJournal } from "../../journal/memory.ts";
import type { Followed } from "../follow/journal-follower.ts";
import { HistoryFollower } from "./follower.ts";
import { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-history-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const file = () => join(folder, "history.db");

/** Runs more jobs over two pools than fit. At the end, some hold a lease and some wait. */
async function live({ broker, clock }: TestBroker, name: string): Promise<void> {
  for (let job = 0; job < 12; job++) {
    await broker.submit(acquire(`${name}${job}`, job % 3 === 0 ? "aws gcp" : "aws"));
    await clock.advance(1_000);
    if (job >= 4) await broker.submit(release(`${name}${job - 4}`));
    // This job consists of two events. If the follower read them twice, it would have two entries.
    await broker.submit(acquire(`${name}quick${job}`, "fly"));
    await broker.submit(release(`${name}quick${job}`));
  }
}

const pools = [pool("aws", 2), pool("gcp", 1), pool("fly", 1)];

/** Everything in the store, for comparison. */
function contents(store: HistoryStore): unknown {
  const reader = new HistoryReader(store.database);
  return {
    entries: reader.page({}, 1_000).items,
    open: [...reader.open()],
    sizes: [...reader.sizes()],
  };
}

async function inOneGo({ broker, journal }: TestBroker): Promise<unknown> {
  const store = HistoryStore.inMemory();
  const follower = new HistoryFollower(store, journal, broker);
  await follower.caughtUp();
  const found = contents(store);
  await follower.close();
  return found;
}

describe("HistoryFollower", () => {
  test("stores finished leases, open ones and the sizes of pools", async () => {
    const site = await brokerOf(pools);
    const store = HistoryStore.inMemory();
    const follower = new HistoryFollower(store, site.journal, site.broker);
    await site.broker.submit(acquire("a", "aws:2", { priority: 3 }));
    await site.clock.advance(5_000);
    await site.broker.submit(acquire("b", "aws"));
    await site.clock.advance(1_000);
    await site.broker.submit(release("a", { claim: "2" }));
    await site.clock.advance(2_000);
    await site.broker.submit(release("a"));
    await follower.caughtUp();
    const reader = new HistoryReader(store.database);
    const start = site.clock.now() - 8_000;
    expect(reader.page({}, 10).items).toMatchObject([
      { id: "a", claim: "1", resource: "aws-1", endedAt: start + 8_000, how: "released" },
      { id: "a", claim: "2", resource: "aws-2", endedAt: start + 6_000, priority: 3 },
    ]);
    expect([...reader.open()]).toMatchObject([
      { id: "b", askedAt: start + 5_000, grantedAt: start + 6_000, claims: [{ pool: "aws" }] },
    ]);
    expect([...reader.sizes()]).toEqual([
      { pool: "aws", at: start, size: 2 },
      { pool: "fly", at: start, size: 1 },
      { pool: "gcp", at: start, size: 1 },
    ]);
    await follower.close();
  });

  test("stores what grants waited for, over a restart and after a rebuild", async () => {
    const site = await brokerOf(pools);
    const path = file();
    const store = HistoryStore.open(path);
    const follower = new HistoryFollower(store, site.journal, site.broker, { sliceEvents: 2 });
    await site.broker.submit(acquire("a", "aws:2"));
    await site.broker.submit(acquire("b", "aws"));
    await site.clock.advance(1_000);
    await site.broker.submit(release("a"));
    await follower.close();
    const later = HistoryStore.open(path);
    const waited = (database: HistoryStore["database"]) =>
      new HistoryReader(database).page({}, 10).items.map(({ id, waitedFor }) => [id, waitedFor]);
    const next = new HistoryFollower(later, site.journal, site.broker);
    await site.broker.submit(release("b"));
    await next.caughtUp();
    expect(waited(later.database)).toEqual([
      ["b", "no_free"],
      ["a", null],
      ["a", null],
    ]);
    await next.close();
    const anew = HistoryStore.open(path, { anew: true });
    const again = new HistoryFollower(anew, site.journal, site.broker);
    await again.caughtUp();
    expect(waited(anew.database)[0]).toEqual(["b", "no_free"]);
    await again.close();
  });

  test.each([1, 2, 7])(
    "gives the same result in slices of %i with a crash after each slice",
    async (sliceEvents) => {
      const site = await brokerOf(pools);
      await live(site, "job");
      const whole = await inOneGo(site);
      const path = file();
      for (let seq = sliceEvents; seq < site.broker.head + sliceEvents; seq += sliceEvents) {
        const store = HistoryStore.open(path);
        // The process dies after this event: the follower is neither closed nor notified.
        const followed: Followed = {
          head: Math.min(seq, site.broker.head),
          now: () => 0,
          listen: () => () => {},
        };
        await new HistoryFollower(store, site.journal, followed, { sliceEvents }).caughtUp();
        store.close();
      }
      const store = HistoryStore.open(path);
      expect(contents(store)).toEqual(whole);
      store.close();
    },
  );

  test("continues by itself when the disk has space again, with each entry once", async () => {
    const site = await brokerOf(pools);
    await live(site, "early");
    const store = HistoryStore.open(file());
    const failed: unknown[] = [];
    const options = {
      ...{ everyMs: 1, patienceMs: 0, sliceEvents: 5 },
      failed: (cause: unknown) => failed.push(cause),
    };
    const { page_count: pages } = store.database.prepare("PRAGMA page_count").get() ?? {};
    store.database.exec(`PRAGMA max_page_count = ${pages}`);
    await site.broker.submit({ type: "configure", pools: [pool("aws", 300), ...pools.slice(1)] });
    const follower = new HistoryFollower(store, site.journal, site.broker, options);
    await until(() => failed.length > 0);
    expect(follower.lag).toBeGreaterThan(0);
    await live(site, "late");
    store.database.exec("PRAGMA max_page_count = 1000000");
    await follower.caughtUp();
    expect(failed).toEqual([expect.objectContaining({ name: "JournalUnavailable" })]);
    expect(contents(store)).toEqual(await inOneGo(site));
    await follower.close();
  });

  test("reads missed events from the journal and follows the rest", async () => {
    const site = await brokerOf(pools);
    await live(site, "before");
    const store = HistoryStore.inMemory();
    const follower = new HistoryFollower(store, site.journal, site.broker, { sliceEvents: 3 });
    const following = follower.caughtUp();
    await live(site, "meanwhile");
    await following;
    await follower.caughtUp();
    expect(follower.lag).toBe(0);
    expect(contents(store)).toEqual(await inOneGo(site));
    await follower.close();
  });

  test("waits during a load, even after a quiet time, and continues after it", async () => {
    const site = await brokerOf(pools);
    const store = HistoryStore.inMemory();
    const follower = new HistoryFollower(store, site.journal, site.broker, { everyMs: 20 });
    await follower.caughtUp();
    const before = store.seq;
    await setTimeout(200);
    const burst = new Set<number>();
    for (let job = 0; job < 100; job++) {
      await site.broker.submit(acquire(`job${job}`, "fly"));
      await site.broker.submit(release(`job${job}`));
      for (const end = performance.now() + 3; performance.now() < end; );
      await setImmediate();
      burst.add(store.seq);
    }
    expect([...burst]).toEqual([before]);
    // A timer leaves the thread idle. `until` would keep it busy, and the follower would wait on.
    while (follower.lag > 0) await setTimeout(5);
    expect(contents(store)).toEqual(await inOneGo(site));
    await follower.close();
  });

  test("gives the same result after a rebuild", async () => {
    const site = await brokerOf(pools);
    await live(site, "job");
    const whole = await inOneGo(site);
    const path = file();
    for (const anew of [false, true]) {
      const store = HistoryStore.open(path, { anew });
      expect(store.load().lastNumber).toBe(0);
      const follower = new HistoryFollower(store, site.journal, site.broker);
      await follower.caughtUp();
      expect(contents(store)).toEqual(whole);
      await follower.close();
    }
  });

  test("starts again from the snapshot if the events were pruned", async () => {
    const site = await brokerOf(pools, { snapshotEveryEvents: 5, retentionMs: 0 });
    await live(site, "job");
    await until(() => site.journal.snapshots > 2);
    await expect(site.journal.read(0)[Symbol.asyncIterator]().next()).rejects.toThrow(
      "Cannot read",
    );
    const store = HistoryStore.inMemory();
    const follower = new HistoryFollower(store, site.journal, site.broker);
    await follower.caughtUp();
    const open = [...new HistoryReader(store.database).open()].map(({ id }) => id);
    const held = await site.broker.read(({ leases, requests }) => [
      ...leases.keys(),
      ...requests.keys(),
    ]);
    expect(open.sort()).toEqual(held.sort());
    expect([...new HistoryReader(store.database).sizes()].map(({ size }) => size)).toEqual([
      2, 1, 1,
    ]);
    await follower.close();
  });

  test("delays pruning until it has caught up", async () => {
    const site = await brokerOf(pools, { snapshotEveryEvents: 5, retentionMs: 0 });
    const behind = Promise.withResolvers<void>();
    const forget = site.broker.listen({ caughtUp: () => behind.promise });
    await live(site, "job");
    const first = () => site.journal.memory.read(0)[Symbol.asyncIterator]().next();
    expect((await first()).value).toMatchObject({ seq: 1 });
    behind.resolve();
    forget();
    await live(site, "more");
    await expect(first()).rejects.toThrow("the oldest that is still kept");
  });

  test("deletes entries older than its retention, and keeps the sizes of pools", async () => {
    const site = await brokerOf(pools);
    const store = HistoryStore.inMemory();
    await live(site, "old");
    const follower = new HistoryFollower(store, site.journal, site.broker, { retentionMs: 20_000 });
    await follower.caughtUp();
    expect(new HistoryReader(store.database).page({}, 1_000).items.length).toBeGreaterThan(5);
    await site.clock.advance(3_600_000);
    await site.broker.submit(acquire("new", "aws"));
    await site.broker.submit(release("new"));
    await follower.caughtUp();
    const reader = new HistoryReader(store.database);
    await until(() => reader.page({}, 1_000).items.length === 1);
    expect(reader.page({}, 1).items).toMatchObject([{ id: "new" }]);
    expect([...reader.sizes()].map(({ size }) => size)).toEqual([2, 1, 1]);
    await follower.close();
  });

  describe("with another journal than the one it was written from", () => {
    const journalId = "the journal";

    async function written(site: TestBroker): Promise<HistoryStore> {
      const store = HistoryStore.open(file());
      const follower = new HistoryFollower(store, site.journal, site.broker, { journalId });
      await follower.caughtUp();
      await follower.close();
      return HistoryStore.open(file());
    }
    const ids = (store: HistoryStore) =>
      new HistoryReader(store.database).page({}, 1_000).items.map(({ id }) => id);

    /** Like a backup of the journal file. */
    async function copyOf({ journal }: TestBroker): Promise<MemoryJournal> {
      const copy = new MemoryJournal(journal.secret);
      const commits = journal.memory.read(0);
      for await (const { at, events } of commits) await copy.append(copy.head, at, events);
      const snapshot = await journal.loadSnapshot();
      if (snapshot !== undefined) await copy.saveSnapshot(snapshot);
      return copy;
    }

    test("keeps finished entries, and follows the other journal from its beginning", async () => {
      const before = await brokerOf(pools);
      await live(before, "before");
      const store = await written(before);
      const kept = ids(store);
      const after = await brokerOf([pool("aws", 5)]);
      await live(after, "after");
      const follower = new HistoryFollower(store, after.journal, after.broker, {
        journalId: "another",
      });
      await follower.caughtUp();
      const found = ids(store);
      expect(found.slice(-kept.length)).toEqual(kept);
      expect(found.slice(0, -kept.length).every((id) => id.startsWith("after"))).toBe(true);
      expect(found.length).toBeGreaterThan(kept.length);
      const held = await after.broker.read(({ leases }) => [...leases.keys()].sort());
      const reader = new HistoryReader(store.database);
      expect([...reader.open()].map(({ id }) => id).sort()).toEqual(held);
      const last = new Map([...reader.sizes()].map(({ pool: name, size }) => [name, size]));
      expect(Object.fromEntries(last)).toEqual({ aws: 5, fly: 0, gcp: 0 });
      await follower.close();
    });

    test.each([100_000, 20])(
      "continues from an older copy with each entry once; a snapshot every %i events",
      async (snapshotEveryEvents) => {
        const site = await brokerOf(pools, { snapshotEveryEvents });
        await live(site, "early");
        const backup = await copyOf(site);
        await live(site, "late");
        const store = await written(site);
        const kept = ids(store);
        const restored = await openBroker({ memory: backup });
        const follower = new HistoryFollower(store, restored.journal, restored.broker, {
          journalId,
        });
        await follower.caughtUp();
        expect(ids(store)).toEqual(kept);
        const held = await restored.broker.read(({ leases, requests }) => [
          ...leases.keys(),
          ...requests.keys(),
        ]);
        const reader = new HistoryReader(store.database);
        expect([...reader.open()].map(({ id }) => id).sort()).toEqual(held.sort());
        const [one = ""] = await restored.broker.read(({ leases }) => [...leases.keys()]);
        await restored.broker.submit(release(one));
        await follower.caughtUp();
        expect(ids(store)[0]).toBe(one);
        await follower.close();
      },
    );
  });
});
