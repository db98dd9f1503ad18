/** A journal that another process writes: the next commit is sent before the last one is answered. */
import { describe, expect, test } from "vitest";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import { settled } from "./hand-clock.suite.ts";
import { brokerOf, openBroker, type TestBroker } from "./test-broker.suite.ts";

/** The commit of `a` is under way, and `b` waits for the next one. */
async function underWay(): Promise<TestBroker & { a: Promise<unknown>; b: Promise<unknown> }> {
  const site = await brokerOf([pool("aws", 9)], { appendsElsewhere: true });
  site.journal.shut();
  const a = site.broker.submit(acquire("a", "aws"));
  await site.journal.arrived;
  const b = site.broker.submit(acquire("b", "aws"));
  await settled();
  return { ...site, a, b };
}

describe("Broker whose journal is written elsewhere", () => {
  test("begins the next commit before it answers the last one", async () => {
    const { journal, a, b } = await underWay();
    const order: string[] = [];
    void a.then(() => order.push("a is answered"));
    const append = journal.append.bind(journal);
    journal.append = (...args) => {
      order.push("b is sent");
      return append(...args);
    };
    journal.open();
    await Promise.all([a, b]);
    expect(order).toEqual(["b is sent", "a is answered"]);
  });

  test("lets a read see what is durable, and nothing of the next commit", async () => {
    const { broker, journal, a, b } = await underWay();
    const leases = broker.read((state) => [...state.leases.keys()]);
    journal.open();
    expect(await leases).toEqual(["a"]);
    await Promise.all([a, b]);
    expect(await broker.read((state) => state.leases.size)).toBe(2);
  });

  test("tells listeners of each commit with the state right after it", async () => {
    const { broker, journal, a, b } = await underWay();
    const seen: number[] = [];
    broker.listen({ committed: (_, state) => seen.push(state.leases.size) });
    journal.open();
    await Promise.all([a, b]);
    expect(seen).toEqual([1, 2]);
  });

  test("answers the last commit although the next one fails", async () => {
    const { broker, journal, a, b } = await underWay();
    const failed = expect(b).rejects.toMatchObject({ name: "JournalUnavailable" });
    journal.append = () => Promise.reject(new JournalUnavailable("Cannot append: cut off"));
    journal.open();
    expect(await a).toMatchObject({ type: "granted" });
    await failed;
    expect(await broker.read((state) => [...state.leases.keys()])).toEqual(["a"]);
  });

  test("answers everything when it closes or steps down", async () => {
    for (const end of ["close", "stepDown"] as const) {
      const { broker, journal, a, b } = await underWay();
      const ended = end === "close" ? broker.close() : broker.stepDown(new Error("it stops"));
      journal.open();
      await ended;
      expect(await a).toMatchObject({ type: "granted" });
      expect(await b).toMatchObject({ type: "granted" });
    }
  });

  test("answers heartbeats that came during a commit", async () => {
    const { broker, journal, a, b } = await underWay();
    const beat = broker.submit(renew("a"));
    const gone = broker.submit(release("a"));
    journal.open();
    await Promise.all([a, b]);
    expect(await beat).toMatchObject({ type: "granted" });
    expect(await gone).toMatchObject({ type: "done" });
  });
});

test("follow() reads the journal once for all who ask while it is being read", async () => {
  const { broker, journal, clock } = await brokerOf([pool("aws", 9)]);
  const other = await openBroker({ memory: journal.memory, clock, startAs: "standby" });
  let reads = 0;
  const read = other.journal.read.bind(other.journal);
  other.journal.read = (seq) => {
    reads += 1;
    return read(seq);
  };
  await broker.submit(acquire("a", "aws"));
  await Promise.all(Array.from({ length: 50 }, () => other.broker.follow()));
  expect(reads).toBe(2);
  expect(other.broker.head).toBe(broker.head);
});
