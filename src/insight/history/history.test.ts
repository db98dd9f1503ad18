import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import { acquire, pool, release } from "../../core/decide/lending.suite.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { History, HistoryUnavailable } from "./history.ts";
import type { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-history-"));
  path = join(folder, "history.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function lend({ broker, clock }: TestBroker, id: string): Promise<void> {
  await clock.advance(1_000);
  expect(await broker.submit(acquire(id, "aws"))).toMatchObject({ type: "granted" });
  expect(await broker.submit(release(id))).toEqual({ type: "done" });
}

const ids = (reader: HistoryReader) => reader.page({}, 100).items.map(({ id }) => id);

test("History knows a request that an operator removed from one that its client took back", async () => {
  const { broker, journal } = await brokerOf([pool("aws", 1)]);
  const history = new History(() => HistoryStore.open(path), journal, broker);
  for (const id of ["held", "removed", "cancelled"]) await broker.submit(acquire(id, "aws"));
  const reason = { by: "ada", why: "stuck" };
  const leave = (id: string) => ({ type: "leave", id: id as RequestId, why: "cancelled" }) as const;
  await broker.submit({ ...leave("removed"), reason });
  await broker.submit(leave("cancelled"));
  await history.caughtUp();
  const { items } = history.reader.page({}, 10);
  expect(items.map(({ id, how }) => [id, how])).toEqual([
    ["cancelled", "cancelled"],
    ["removed", "removed"],
  ]);
  await history.close();
});

describe("History whose file cannot be opened", () => {
  /** A folder has the name of the file until `repair` is called. */
  async function broken(options: Parameters<typeof brokerOf>[1] = {}) {
    mkdirSync(path);
    const site = await brokerOf([pool("aws", 1)], options);
    const failed: unknown[] = [];
    const history = new History(() => HistoryStore.open(path), site.journal, site.broker, {
      ...{ retryMs: 1, everyMs: 1 },
      failed: (cause) => failed.push(cause),
    });
    return { ...site, site, history, failed, repair: () => rmdirSync(path) };
  }

  test("reports it once, rejects queries, and delays no lease", async () => {
    const { site, history, failed } = await broken();
    await lend(site, "a");
    expect(() => history.reader).toThrow(HistoryUnavailable);
    expect(history.lag).toBe(site.broker.head);
    expect(failed).toHaveLength(1);
    await history.close();
  });

  test("opens it by itself later, with every entry", async () => {
    const { site, history, repair } = await broken();
    await lend(site, "a");
    repair();
    await history.caughtUp();
    await lend(site, "b");
    await history.caughtUp();
    expect(ids(history.reader)).toEqual(["b", "a"]);
    expect(history.lag).toBe(0);
    await history.close();
  });

  test("keeps the journal from pruning events that it has not processed", async () => {
    const { site, broker, journal, history, repair } = await broken({
      ...{ snapshotEveryEvents: 5, retentionMs: 0 },
    });
    for (let job = 0; job < 10; job++) await lend(site, `job-${job}`);
    const first = () => journal.memory.read(0)[Symbol.asyncIterator]().next();
    expect((await first()).value).toMatchObject({ seq: 1 });
    repair();
    await history.caughtUp();
    expect(ids(history.reader)).toHaveLength(10);
    while (
      await first().then(
        () => true,
        () => false,
      )
    )
      await lend(site, `more-${broker.head}`);
    await history.close();
  });
});

describe("History whose file cannot be written", () => {
  test("stays readable, delays no lease, and continues when it can", async () => {
    const site = await brokerOf([pool("aws", 1)]);
    const stores: HistoryStore[] = [];
    const failed: unknown[] = [];
    const open = () => {
      const store = HistoryStore.open(path);
      stores.push(store);
      return store;
    };
    const history = new History(open, site.journal, site.broker, {
      ...{ everyMs: 1, failed: (cause: unknown) => failed.push(cause) },
    });
    await lend(site, "a");
    await history.caughtUp();
    stores[0]?.database.exec("PRAGMA query_only = ON"); // Behaves like a read-only file.
    await lend(site, "b");
    await until(() => failed.length > 0);
    expect(failed).toMatchObject([{ name: "JournalUnavailable" }]);
    await lend(site, "c");
    expect(ids(history.reader)).toEqual(["a"]);
    stores[0]?.database.exec("PRAGMA query_only = OFF");
    await history.caughtUp();
    expect(ids(history.reader)).toEqual(["c", "b", "a"]);
    await history.close();
  });
});
