import { describe, expect, test } from "vitest";
import { fingerprint } from "../../sim/invariants.ts";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import { JournalConflict, JournalUnavailable } from "../journal/journal.ts";
import { BrokerClosed } from "./broker-contract.ts";
import { settled } from "./hand-clock.suite.ts";
import { brokerOf, poison } from "./test-broker.suite.ts";

const full = () => new JournalUnavailable("Cannot append: the disk is full");
const unavailable = { name: "JournalUnavailable" };

describe("Broker with a journal that cannot be written", () => {
  test("rejects the whole batch and changes nothing", async () => {
    const { broker, journal, reported } = await brokerOf([pool("aws", 3)]);
    await broker.submit(acquire("a", "aws"));
    const before = await broker.read(fingerprint);
    const commits = reported.committed.length;
    journal.appendFails = full();
    const batch = [acquire("b", "aws"), release("a"), acquire("c", "aws")];
    const results = await Promise.allSettled(batch.map((command) => broker.submit(command)));
    expect(results).toMatchObject(batch.map(() => ({ status: "rejected", reason: unavailable })));
    expect(await broker.read(fingerprint)).toBe(before);
    expect(reported.committed).toHaveLength(commits);
    expect(broker.unwritable).toBe(journal.appendFails);
    expect(reported.writable).toEqual([journal.appendFails]);
  });

  test("rejects the commands that queued meanwhile without trying them", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 3)]);
    journal.shut();
    journal.appendFails = full();
    const first = broker.submit(acquire("a", "aws"));
    await journal.arrived;
    const second = broker.submit(acquire("b", "aws"));
    journal.open();
    await expect(first).rejects.toMatchObject(unavailable);
    await expect(second).rejects.toMatchObject(unavailable);
  });

  test("still accepts heartbeats and reads", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 1, { ttlMs: 10_000 })]);
    await broker.submit(acquire("a", "aws"));
    journal.appendFails = full();
    await expect(broker.submit(acquire("b", "aws"))).rejects.toMatchObject(unavailable);
    for (let beat = 0; beat < 10; beat++) {
      await clock.advance(5_000);
      expect(await broker.submit(renew("a"))).toMatchObject({ type: "granted" });
    }
    expect(await broker.read((state) => state.leases.size)).toBe(1);
  });

  test("ends no lease while it cannot record that", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 1, { ttlMs: 10_000 })]);
    await broker.submit(acquire("a", "aws"));
    journal.appendFails = full();
    await expect(broker.submit(acquire("b", "aws"))).rejects.toMatchObject(unavailable);
    const before = journal.appends.length;
    await clock.advance(60_000);
    const tried = journal.appends.slice(before);
    expect(tried.length).toBeGreaterThan(30);
    expect(tried.flat()).toEqual([]);
    expect(await broker.read((state) => state.leases.size)).toBe(1);
    expect(await broker.submit(renew("a"))).toMatchObject({ type: "granted" });
  });

  test("recovers by itself and reports it", async () => {
    const { broker, clock, journal, reported } = await brokerOf([pool("aws", 1)], {
      probeEveryMs: 1_000,
    });
    journal.appendFails = full();
    await expect(broker.submit(acquire("a", "aws"))).rejects.toMatchObject(unavailable);
    await clock.advance(5_000);
    expect(broker.unwritable).not.toBeNull();
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(broker.unwritable).toBeNull();
    expect(reported.writable.at(-1)).toBeNull();
    expect(await broker.submit(acquire("a", "aws"))).toMatchObject({ type: "granted" });
  });

  test("expires leases without heartbeats once the journal is writable", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 1, { ttlMs: 10_000 })]);
    await broker.submit(acquire("a", "aws"));
    journal.appendFails = full();
    await expect(broker.submit(acquire("b", "aws"))).rejects.toMatchObject(unavailable);
    await clock.advance(60_000);
    journal.appendFails = undefined;
    await clock.advance(20_000);
    expect(await broker.read((state) => state.leases.size)).toBe(0);
  });

  test("keeps requests with an open long poll in the queue", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws", { ttlMs: 9e6 }));
    await broker.submit(acquire("b", "aws", { ttlMs: 60_000, waitMs: 1_800_000 }));
    void broker.untilSettled("b" as never, 1_800_000, { present: true });
    journal.appendFails = full();
    await expect(broker.submit(acquire("c", "aws"))).rejects.toMatchObject(unavailable);
    journal.appendFails = undefined;
    await clock.advance(1_700_000);
    expect(await broker.read((state) => [...state.requests.keys()])).toEqual(["b"]);
  });

  test("publishes a commit later if it had reached the journal after all", async () => {
    const { broker, journal, reported } = await brokerOf([pool("aws", 1)]);
    journal.losesNextReply = full();
    await expect(broker.submit(acquire("a", "aws", { key: "k" }))).rejects.toMatchObject(
      unavailable,
    );
    await settled();
    expect(reported.committed.at(-1)?.events).toMatchObject([{ type: "lease-granted", id: "a" }]);
    expect(broker.head).toBe(journal.head);
  });

  test("returns the lease whose reply was lost to a request with the same key", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 2)]);
    journal.losesNextReply = full();
    await expect(broker.submit(acquire("a", "aws", { key: "k" }))).rejects.toMatchObject(
      unavailable,
    );
    await clock.advance(1_000);
    const again = acquire("b", "aws", { key: "k", holder: "job-a" });
    expect(await broker.submit(again)).toMatchObject({ type: "granted", lease: { id: "a" } });
  });

  test("waits until the journal is readable again", async () => {
    const { broker, clock, journal, reported } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws"));
    journal.appendFails = full();
    journal.readFails = new JournalUnavailable("Cannot read");
    const failed = broker.submit(release("a"));
    await expect(failed).rejects.toMatchObject(unavailable);
    await clock.advance(3_000);
    journal.readFails = undefined;
    journal.appendFails = undefined;
    await clock.advance(3_000);
    expect(await broker.submit(release("a"))).toEqual({ type: "done" });
    expect(reported.fatal).toEqual([]);
  });

  test("can still close", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    journal.appendFails = full();
    await expect(broker.submit(acquire("a", "aws"))).rejects.toMatchObject(unavailable);
    await broker.close();
    expect(journal.snapshots).toBe(0);
  });

  test("closes without the last snapshot if the disk is full", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    journal.snapshotFails = full();
    await broker.close();
    expect(journal.snapshots).toBe(0);
  });

  test("continues when only the snapshot fails", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 9)], {
      snapshotEveryEvents: 10,
    });
    journal.snapshotFails = full();
    for (const id of ["a", "b", "c"]) {
      expect(await broker.submit(acquire(id, "aws"))).toMatchObject({ type: "granted" });
      await clock.advance(2_000);
    }
    expect(await broker.read((state) => [...state.leases.keys()])).toEqual(["a", "b", "c"]);
  });
});

describe("Broker with a second writer", () => {
  test("stops for good on a conflict", async () => {
    const { broker, clock, journal, reported } = await brokerOf([pool("aws", 2)]);
    journal.appendFails = new JournalConflict("Cannot append: another process has written");
    await expect(broker.submit(acquire("a", "aws"))).rejects.toThrow();
    await settled();
    expect(reported.fatal).toEqual([journal.appendFails]);
    await expect(broker.submit(acquire("b", "aws"))).rejects.toBeInstanceOf(BrokerClosed);
    journal.appendFails = undefined;
    const before = journal.appends.length;
    await clock.advance(600_000);
    expect(journal.appends).toHaveLength(before);
  });
});

describe("Broker with a bug in a decision", () => {
  test("rejects only that command and decides the rest of the batch", async () => {
    const { broker, reported } = await brokerOf([pool("aws", 2)]);
    const results = await Promise.allSettled([
      broker.submit(acquire("a", "aws")),
      broker.submit(poison()),
      broker.submit(acquire("b", "aws")),
    ]);
    expect(results).toMatchObject([
      { status: "fulfilled", value: { type: "granted", lease: { id: "a" } } },
      { status: "rejected", reason: { message: "poison" } },
      { status: "fulfilled", value: { type: "granted", lease: { id: "b" } } },
    ]);
    expect(reported.failed).toMatchObject([{ message: "poison" }]);
    expect(reported.fatal).toEqual([]);
  });

  test("survives several in one batch", async () => {
    const { broker } = await brokerOf([pool("aws", 2)]);
    const results = await Promise.allSettled([
      broker.submit(poison()),
      broker.submit(poison()),
      broker.submit(acquire("b", "aws")),
      broker.submit(poison()),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
      "fulfilled",
      "rejected",
    ]);
  });

  test("writes each event of the batch once", async () => {
    const { broker, journal, reported } = await brokerOf([pool("aws", 2)]);
    await Promise.allSettled([broker.submit(acquire("a", "aws")), broker.submit(poison())]);
    const granted = reported.committed.flatMap(({ events }) =>
      events.filter(({ type }) => type === "lease-granted"),
    );
    expect(granted).toHaveLength(1);
    expect(journal.head).toBe(broker.head);
  });

  test("writes nothing more when the journal cannot be reloaded", async () => {
    const { broker, journal, reported } = await brokerOf([pool("aws", 2)]);
    journal.readFails = new Error("damaged");
    const before = journal.appends.length;
    const results = await Promise.allSettled([
      broker.submit(poison()),
      broker.submit(acquire("b", "aws")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(journal.appends).toHaveLength(before);
    expect(reported.fatal).toEqual([journal.readFails]);
  });
});
