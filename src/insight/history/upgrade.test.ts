/** Uses a data folder that an older Berth has written; `test/fixtures/README.md` describes it. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Broker } from "../../broker/broker.ts";
import { HandClock } from "../../broker/hand-clock.suite.ts";
import { release } from "../../core/decide/lending.suite.ts";
import { want } from "../../core/shared/capacity.suite.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import { readPast } from "../what-if/from-data.ts";
import { poolsInForce } from "../what-if/in-force.ts";
import { whatIf } from "../what-if/what-if.ts";
import { HistoryFollower } from "./follower.ts";
import { historyPath } from "./history-file.ts";
import { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

const fixture = new URL("../../../test/fixtures/history-v1/", import.meta.url).pathname;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-upgrade-"));
  cpSync(fixture, folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts a broker with history on the folder, as a server does. */
async function upgraded() {
  const journal = SqliteJournal.open(folder);
  const clock = new HandClock(1_700_001_000_000);
  const broker = await Broker.open(journal, () => clock);
  const store = HistoryStore.open(historyPath(folder));
  const follower = new HistoryFollower(store, journal, broker);
  await follower.caughtUp();
  return {
    ...{ broker, clock, follower, reader: new HistoryReader(store.database) },
    async [Symbol.asyncDispose]() {
      await broker.close();
      await follower.close();
      await journal.close();
    },
  };
}

describe("a history of a Berth that recorded neither purposes nor amounts", () => {
  test("has the cleanings of the server's janitor as upkeep", async () => {
    await using site = await upgraded();
    const { items } = site.reader.page({ purpose: "clean" }, 100);
    expect(items).toHaveLength(12);
    expect(items.every(({ holder }) => holder === "berth-janitor")).toBe(true);
    const range = { from: 1_700_000_000_000, to: 1_700_001_000_000, stepMs: 1_000_000 };
    const { total } = site.reader.stats(range, "aws");
    expect(total).toMatchObject({ asked: 12, ended: 12, holdMs: { max: 60_000 } });
    expect(total.upkeep).toMatchObject({ cleaned: 12, cleaningMs: { p50: 10_000 } });
  });

  test("does not count claims as the use of a shared pool, and counts amounts from now on", async () => {
    await using site = await upgraded();
    const { broker, clock, follower, reader } = site;
    const past = { from: 1_700_000_000_000, to: 1_700_000_900_000, stepMs: 900_000 };
    expect(reader.stats(past, "vsphere").total).toMatchObject({ ended: 11, utilisation: null });
    const used = reader.stats(past, "aws").total.utilisation;
    expect(reader.stats(past).total.utilisation, "of all pools").toBe(used);
    await broker.submit(release("vm-11"));
    const from = clock.now();
    await broker.submit(want("vm", { amount: { vcpus: 15 } }, { ttlMs: 3_600_000 }));
    await clock.advance(60_000);
    await follower.caughtUp();
    const { total } = reader.stats({ from, to: clock.now(), stepMs: 60_000 }, "vsphere");
    // 20 vCPUs of the first machine with overcommit, and 10 of the second.
    expect(total.utilisation).toBeCloseTo(0.5, 9);
    expect(total.dimensions).toEqual([{ name: "vcpus", utilisation: total.utilisation }]);
  });

  test("learns the capacities once", async () => {
    await (await upgraded())[Symbol.asyncDispose]();
    const store = HistoryStore.open(historyPath(folder));
    expect(store.load()).toMatchObject({ hasCapacities: true });
    expect(store.load().capacities).toEqual(
      new Map([
        ["m", { vcpus: 20 }],
        ["n", { vcpus: 10 }],
      ]),
    );
    store.close();
  });

  test.each(["before", "after"])(
    "can be replayed %s the upgrade, and says what is left out",
    async (when) => {
      if (when === "after") await (await upgraded())[Symbol.asyncDispose]();
      const { source, now } = await readPast(folder, 3_600_000);
      const range = { from: now.at - 3_600_000, to: now.at + 1 };
      const run = whatIf({ ...range, pools: poolsInForce(now.state) }, source);
      for (;;) {
        const step = run.next();
        if (!step.done) continue;
        const { unknowns, pools } = step.value;
        expect(unknowns.join("\n")).toContain("11 requests for shared resources are left out");
        const shared = pools.find(({ pool }) => pool === "vsphere");
        expect(shared?.recorded.utilisation ?? null).toBeNull();
        return;
      }
    },
  );
});
