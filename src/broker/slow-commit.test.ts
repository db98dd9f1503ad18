/** However slow the disk is, who spoke in time is heard. */
import { expect, test } from "vitest";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import type { Command } from "../core/model/command.ts";
import type { Outcome } from "../core/model/outcome.ts";
import { brokerOf, type TestBroker } from "./test-broker.suite.ts";

/** Sends commands in the fifth second of a commit that takes twenty. */
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

test("Broker takes a release that came in time for one, though its commit was slow", async () => {
  const all = await brokerOf([
    pool("aws", 1, { ttlMs: 10_000, onExpire: "dirty" }),
    pool("gcp", 1),
  ]);
  await all.broker.submit(acquire("a", "aws"));
  expect(await duringSlowCommit(all, [release("a")])).toEqual([{ type: "done" }]);
  expect(await all.broker.look((state) => state.ended.get("a" as never)?.how)).toBe("released");
});

test("Broker takes a repeated ask that came in time for a sign of life", async () => {
  const all = await brokerOf([pool("aws", 1, { ttlMs: 10_000 }), pool("gcp", 1)]);
  await all.broker.submit(acquire("a", "aws", { ttlMs: 90_000 }));
  await all.broker.submit(acquire("b", "aws", { key: "k" }));
  const again = acquire("c", "aws", { key: "k", holder: "job-b" });
  expect(await duringSlowCommit(all, [again])).toMatchObject([{ type: "waiting" }]);
});

test("Broker takes nothing from those whose heartbeat came in time, however many they are", async () => {
  const all = await brokerOf([pool("aws", 6_000, { ttlMs: 10_000 }), pool("gcp", 1)]);
  const ids = Array.from({ length: 6_000 }, (_, index) => `r${index}`);
  await Promise.all(ids.map((id) => all.broker.submit(acquire(id, "aws"))));
  const beats = await duringSlowCommit(all, ids.map(renew));
  expect(beats.filter(({ type }) => type !== "granted")).toEqual([]);
});
