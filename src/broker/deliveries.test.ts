import { describe, expect, test } from "vitest";
import { pool, release } from "../core/decide/lending.suite.ts";
import type { LeaseView } from "../core/explain/view.ts";
import type { Ask } from "../core/model/command.ts";
import type { PoolName, RequestId } from "../core/model/ids.ts";
import { Deliveries } from "./submit-and-wait.ts";
import { brokerOf, openBroker, type TestBroker } from "./test-broker.suite.ts";

const presenceMs = 30_000;
const ask: Ask = {
  holder: "user",
  items: [{ pool: "aws" as PoolName, count: 1 }],
  ttlMs: null,
  byName: true,
  key: "poll",
  presenceMs,
};

async function acquireLease({ broker }: TestBroker): Promise<readonly LeaseView[]> {
  const outcome = await broker.submit({ type: "acquire", id: "r1" as RequestId, ask, waitMs: 0 });
  if (outcome.type !== "granted") throw new Error(`Cannot acquire a lease: ${outcome.type}`);
  return [outcome.lease];
}

/** Whether the lease still exists after its client has not polled for longer than `presenceMs`. */
async function isStillHeld({ broker, clock }: TestBroker): Promise<boolean> {
  await clock.advance(presenceMs + 1);
  return broker.read(({ leases }) => leases.has("r1" as RequestId));
}

/** A name, whether each of the replies arrived, and whether the lease is still held. */
const rows: readonly [string, readonly boolean[], boolean][] = [
  ["arrived", [true], true],
  ["was lost", [false], false],
  ["was lost, and the next one arrived", [false, true], true],
  ["was lost twice", [false, false], false],
  ["arrived, and the reply to a repeated call was lost", [true, false], true],
];

describe("a lease whose reply", () => {
  test.each(rows)("%s", async (_name, replies, held) => {
    const test = await brokerOf([pool("aws", 1)]);
    const deliveries = new Deliveries(test.broker);
    for (const arrived of replies) {
      const leases = await acquireLease(test);
      deliveries.begin(leases);
      deliveries.end(leases, arrived);
    }
    expect(await isStillHeld(test)).toBe(held);
  });

  test.each([
    ["the first", [true, false]],
    ["the second", [false, true]],
  ])("is one of two open replies stays if %s to end arrives", async (_name, arrivals) => {
    const test = await brokerOf([pool("aws", 1)]);
    const deliveries = new Deliveries(test.broker);
    const [first, second] = [await acquireLease(test), await acquireLease(test)];
    deliveries.begin(first);
    deliveries.begin(second);
    for (const [index, leases] of [second, first].entries()) {
      deliveries.end(leases, arrivals[index] === true);
    }
    expect(await isStillHeld(test)).toBe(true);
  });

  test("arrived after its end is not delivered when it is granted again", async () => {
    const test = await brokerOf([pool("aws", 1)]);
    const deliveries = new Deliveries(test.broker);
    const [leases] = await Promise.all([acquireLease(test), test.broker.submit(release("r1"))]);
    deliveries.begin(leases);
    deliveries.end(leases, true);
    const again = await acquireLease(test);
    deliveries.begin(again);
    deliveries.end(again, false);
    expect(await isStillHeld(test)).toBe(false);
  });

  test("may have arrived before a restart stays if a later reply is lost", async () => {
    const before = await brokerOf([pool("aws", 1)]);
    await acquireLease(before);
    await before.broker.close();
    const test = await openBroker({ memory: before.journal.memory });
    const deliveries = new Deliveries(test.broker);
    const leases = await acquireLease(test);
    deliveries.begin(leases);
    deliveries.end(leases, false);
    expect(await isStillHeld(test)).toBe(true);
  });

  test("was lost before a restart and is lost again after it is not held", async () => {
    const before = await brokerOf([pool("aws", 1)]);
    const earlier = new Deliveries(before.broker);
    const lost = await acquireLease(before);
    earlier.begin(lost);
    earlier.end(lost, false);
    await before.broker.read(() => undefined);
    await before.broker.close();
    const test = await openBroker({ memory: before.journal.memory });
    const deliveries = new Deliveries(test.broker);
    const leases = await acquireLease(test);
    deliveries.begin(leases);
    deliveries.end(leases, false);
    expect(await isStillHeld(test)).toBe(false);
  });
});
