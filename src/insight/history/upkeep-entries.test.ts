/** The leases of cleaners in history: upkeep, and never use. */
import { describe, expect, test } from "vitest";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import { acquire, clean, pool, release } from "../../core/decide/lending.suite.ts";
import type { Command } from "../../core/model/command.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { RecordedSamples } from "../forecast/recorded-samples.ts";
import { HistoryFollower } from "./follower.ts";
import { HistoryReader } from "./reader.ts";
import { HistoryStore } from "./store.ts";

const failed = (id: string): Command => {
  return { type: "release", id: id as RequestId, failure: "exit 1" };
};

/** One job of 60 s on one account, then the given cleanings of 10 s each. */
async function recorded(...ends: readonly ((id: string) => Command)[]) {
  const cleaning = { retries: 3, backoffMs: 1_000 };
  const site: TestBroker = await brokerOf([pool("aws", 1, { onRelease: "dirty", cleaning })]);
  const store = HistoryStore.inMemory();
  const follower = new HistoryFollower(store, site.journal, site.broker);
  const start = site.clock.now();
  await site.broker.submit(acquire("job", "aws"));
  await site.clock.advance(60_000);
  await site.broker.submit(release("job"));
  for (const [index, end] of ends.entries()) {
    await site.broker.submit(clean(`clean${index}`));
    await site.clock.advance(10_000);
    await site.broker.submit(end(`clean${index}`));
    await site.clock.advance(10_000); // Longer than any backoff here.
  }
  await follower.caughtUp();
  const reader = new HistoryReader(store.database);
  return { reader, start, end: site.clock.now() };
}

describe("history of a pool with a janitor", () => {
  test("tells a cleaning from a lease, and a failed cleaning from one that succeeded", async () => {
    const stopped = (id: string) => release(id, { state: "dirty" });
    const { reader } = await recorded(failed, stopped, release);
    const all = reader.page({}, 10).items;
    expect(all.map(({ id, purpose, how }) => [id, purpose, how])).toEqual([
      ["clean2", "clean", "cleaned"],
      ["clean1", "clean", "stopped"],
      ["clean0", "clean", "failed"],
      ["job", "use", "released"],
    ]);
    expect(reader.page({ purpose: "use" }, 10).items.map(({ id }) => id)).toEqual(["job"]);
    expect(reader.page({ purpose: "clean" }, 10).items).toHaveLength(3);
  });

  test("counts cleaning apart: it is no request, wait, hold or use", async () => {
    const { reader, start, end } = await recorded(failed, release);
    const { total } = reader.stats({ from: start, to: end, stepMs: end - start }, "aws");
    expect(total).toMatchObject({ asked: 1, granted: 1, ended: 1, left: 0, expired: 0 });
    expect(total.holdMs).toMatchObject({ p50: 60_000, max: 60_000 });
    expect(total.utilisation).toBeCloseTo(60_000 / (end - start), 9);
    expect(total.upkeep).toMatchObject({ cleaned: 1, failed: 1, cleaningMs: { max: 10_000 } });
  });

  test("counts a running cleaning as nothing", async () => {
    const { reader, start, end } = await recorded((id) => clean(`${id}-again`));
    const { total } = reader.stats({ from: start, to: end, stepMs: end - start }, "aws");
    expect(total).toMatchObject({ asked: 1, granted: 1, utilisation: 60_000 / (end - start) });
    expect([...reader.open()]).toMatchObject([{ id: "clean0", claims: [{ purpose: "clean" }] }]);
  });

  test("gives estimates the holds of jobs alone", async () => {
    const { reader } = await recorded(failed, release);
    const holds = new RecordedSamples();
    holds.record([...reader.latest(10)].reverse());
    expect(holds.of(["aws"]).holds.get("aws")).toEqual([60_000]);
  });
});
