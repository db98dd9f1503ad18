import { describe, expect, test } from "vitest";
import { fingerprint } from "../../sim/invariants.ts";
import { acquire, change, pool, release, renew } from "../core/decide/lending.suite.ts";
import { brokerOf, openBroker, type TestBroker } from "./test-broker.suite.ts";

/** Restarts after a crash, with nothing but the journal. */
async function restart({ journal }: TestBroker): Promise<TestBroker> {
  return await openBroker({ memory: journal.memory.reopen() });
}

async function busyBroker(snapshotEveryEvents = 100_000): Promise<TestBroker> {
  const test = await brokerOf([pool("aws", 3, { ttlMs: 10_000 }), pool("gcp", 2)], {
    snapshotEveryEvents,
  });
  const commands = [
    acquire("a", "aws", { key: "ka" }),
    acquire("b", "aws gcp"),
    acquire("c", "aws"),
    acquire("d", "aws:2", { priority: 2 }),
    change("gcp-2", { drained: true, userData: { k: "v" } }),
    release("c"),
    acquire("e", "gcp"),
  ];
  for (const command of commands) {
    await test.clock.advance(100);
    await test.broker.submit(command);
  }
  return test;
}

describe("Broker.open()", () => {
  test.each([
    ["from the journal alone", 100_000],
    ["from a snapshot and the rest of the journal", 7],
    ["from a snapshot after every commit", 1],
  ])("recovers the state %s", async (_, snapshotEveryEvents) => {
    const before = await busyBroker(snapshotEveryEvents);
    const want = await before.broker.read(fingerprint);
    const after = await restart(before);
    expect(await after.broker.read(fingerprint)).toBe(want);
    expect(after.broker.head).toBe(before.broker.head);
    expect(before.journal.snapshots > 0).toBe(snapshotEveryEvents < 100);
  });

  test("recovers the state after a clean stop without replaying events", async () => {
    const before = await busyBroker();
    const want = await before.broker.read(fingerprint);
    await before.broker.close();
    const after = await restart(before);
    expect(await after.broker.read(fingerprint)).toBe(want);
    expect(await after.journal.loadSnapshot()).toMatchObject({ seq: after.broker.head });
  });

  test("gives every holder one full ttl, however long it was down", async () => {
    const before = await busyBroker();
    await before.clock.advance(9_000);
    const after = await restart(before);
    await after.clock.advance(9_999);
    expect(await after.broker.submit(renew("a"))).toMatchObject({ type: "granted" });
    expect(await after.broker.read((state) => state.leases.has("b" as never))).toBe(true);
    await after.clock.advance(1);
    expect(await after.broker.read((state) => state.leases.has("b" as never))).toBe(false);
  });

  test("remembers keys: a request with the same key gets the same lease", async () => {
    const after = await restart(await busyBroker());
    const again = acquire("z", "aws", { key: "ka", holder: "job-a" });
    expect(await after.broker.submit(again)).toMatchObject({ lease: { id: "a" } });
  });

  test("continues with larger fences", async () => {
    const before = await busyBroker(1);
    const fences = () =>
      before.reported.committed.flatMap(({ events }) =>
        events.flatMap((event) =>
          event.type === "lease-granted" ? event.claims.map(({ fence }) => fence) : [],
        ),
      );
    const largest = Math.max(...fences());
    const after = await restart(before);
    await after.broker.submit(release("a"));
    const [granted] = after.reported.committed
      .flatMap(({ events }) => events)
      .filter((event) => event.type === "lease-granted");
    expect(granted?.claims.every(({ fence }) => fence > largest)).toBe(true);
  });

  test("continues with larger fences also if the journal was replaced by an empty one", async () => {
    const granted = ({ reported }: TestBroker) =>
      reported.committed.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === "lease-granted" ? event.claims : [])),
      );
    const before = await brokerOf([pool("aws", 9)]);
    for (const id of ["a", "b", "c"]) await before.broker.submit(acquire(id, "aws"));
    await before.clock.advance(1);
    const after = await openBroker({ clock: before.clock });
    await after.broker.submit({ type: "configure", pools: [pool("aws", 9)] });
    await after.broker.submit(acquire("d", "aws"));
    const largest = Math.max(...granted(before).map(({ fence }) => fence));
    expect(granted(after)[0]?.fence).toBeGreaterThan(largest);
  });

  test("takes a snapshot and prunes when the journal has too many bytes", async () => {
    const test = await brokerOf([pool("aws", 1)], { journalBytesMax: 20_000 });
    for (let number = 0; number < 200; number++) {
      await test.broker.submit(acquire(`r${number}`, "aws"));
      await test.broker.submit(release(`r${number}`));
    }
    await test.clock.advance(1);
    expect(test.journal.snapshots).toBeGreaterThan(1);
    expect(test.journal.bytes).toBeLessThan(30_000);
    expect(test.reported.failed).toEqual([]);
  });

  test("prunes old events once a snapshot covers them", async () => {
    const test = await brokerOf([pool("aws", 1)], { snapshotEveryEvents: 5, retentionMs: 60_000 });
    for (let number = 0; number < 20; number++) {
      await test.clock.advance(30_000);
      await test.broker.submit(acquire(`r${number}`, "aws"));
      await test.broker.submit(release(`r${number}`));
    }
    const fromTheBeginning = test.journal.read(0)[Symbol.asyncIterator]();
    await expect(fromTheBeginning.next()).rejects.toMatchObject({ name: "JournalPruned" });
    const want = await test.broker.read(fingerprint);
    const after = await restart(test);
    expect(await after.broker.read(fingerprint)).toBe(want);
  });

  test("grants a waiting request the resource whose cooldown passed meanwhile", async () => {
    const before = await brokerOf([pool("aws", 1, { cooldownMs: 60_000 })]);
    await before.broker.submit(acquire("a", "aws"));
    await before.broker.submit(release("a"));
    await before.broker.submit(acquire("b", "aws"));
    const after = await restart(before);
    await after.clock.advance(60_000);
    expect(await after.broker.read((state) => [...state.leases.keys()])).toEqual(["b"]);
  });
});
