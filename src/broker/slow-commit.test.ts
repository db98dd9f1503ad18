/** A command that arrived in time counts as in time, even if the disk is slow. */
import { expect, test } from "vitest";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import type { Command } from "../core/model/command.ts";
import type { Outcome } from "../core/model/outcome.ts";
import { brokerOf, type TestBroker } from "./test-broker.suite.ts";

/** Sends the commands five seconds into a commit that takes twenty seconds. */
async function duringSlowCommit(
  { broker, clock, journal }: TestBroker,
  commands: readonly Command[],
): Promise<Outcome[]> {
  journal.shut();
  const slow = broker.submit(acquire("slow", "gcp", { ttlMs: 90_000 }));
  await journal.arrived;
  await clock.advance(5_000);
  const sent = commands.map((command) => broker.submit(command));
  await clock.advance(15_000);
  journal.open();
  await slow;
  return await Promise.all(sent);
}

test("Broker accepts a release that arrived in time during a slow commit", async () => {
  const all = await brokerOf([
    pool("aws", 1, { ttlMs: 10_000, onExpire: "dirty" }),
    pool("gcp", 1),
  ]);
  await all.broker.submit(acquire("a", "aws"));
  expect(await duringSlowCommit(all, [release("a")])).toEqual([{ type: "done" }]);
  expect(await all.broker.read((state) => state.ended.get("a" as never)?.how)).toBe("released");
});

test("Broker counts a repeated acquire that arrived in time as a poll", async () => {
  const all = await brokerOf([pool("aws", 1, { ttlMs: 10_000 }), pool("gcp", 1)]);
  await all.broker.submit(acquire("a", "aws", { ttlMs: 90_000 }));
  await all.broker.submit(acquire("b", "aws", { key: "k" }));
  const again = acquire("c", "aws", { key: "k", holder: "job-b" });
  expect(await duringSlowCommit(all, [again])).toMatchObject([{ type: "waiting" }]);
});

test("Broker expires no lease whose heartbeat arrived in time, in several batches", async () => {
  const all = await brokerOf([pool("aws", 6_000, { ttlMs: 10_000 }), pool("gcp", 1)]);
  const ids = Array.from({ length: 6_000 }, (_, index) => `r${index}`);
  await Promise.all(ids.map((id) => all.broker.submit(acquire(id, "aws"))));
  const beats = await duringSlowCommit(all, ids.map(renew));
  expect(beats.filter(({ type }) => type !== "granted")).toEqual([]);
});
