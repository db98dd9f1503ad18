/** A broker on its way through its modes; what it does in each is in `broker-failure.test.ts`. */
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../sim/invariants.ts";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import { JournalConflict, JournalUnavailable } from "../journal/journal.ts";
import { BrokerClosed, NotLeader } from "./broker-contract.ts";
import { settled } from "./hand-clock.suite.ts";
import { brokerOf, openBroker, poison, type TestBroker } from "./test-broker.suite.ts";

const full = () => new JournalUnavailable("Cannot append: the disk is full");
const unreadable = () => new JournalUnavailable("Cannot read: the disk is failing");
const unavailable = { name: "JournalUnavailable" };

async function readOnly(): Promise<TestBroker> {
  const site = await brokerOf([pool("aws", 3, { ttlMs: 10_000 })]);
  await site.broker.submit(acquire("a", "aws"));
  site.journal.appendFails = full();
  await expect(site.broker.submit(acquire("b", "aws"))).rejects.toMatchObject(unavailable);
  await settled();
  return site;
}

/** Two brokers on one journal: the second has written, and the first has found out. */
async function standby(): Promise<TestBroker & { readonly other: TestBroker }> {
  const site = await brokerOf([pool("aws", 2, { ttlMs: 10_000 })], {
    onConflict: () => "step-down",
  });
  await site.broker.submit(acquire("a", "aws"));
  await site.broker.submit(acquire("b", "aws"));
  await site.broker.submit(acquire("c", "aws"));
  const other = await openBroker({ memory: site.journal.memory, clock: site.clock });
  await other.broker.submit(release("a"));
  await expect(site.broker.submit(release("b"))).rejects.toBeInstanceOf(NotLeader);
  await settled();
  return { ...site, other };
}

describe("Broker that is read-only", () => {
  test("leads again after a probe that is written", async () => {
    const { broker, clock, journal } = await readOnly();
    expect(broker.mode).toBe("read-only");
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("leading");
  });

  test("gives everybody a full ttl when it leads again: some were turned away meanwhile", async () => {
    const { broker, clock, journal } = await readOnly();
    await clock.advance(60_000);
    journal.appendFails = undefined;
    await clock.advance(1_000);
    await clock.advance(9_999);
    expect(await broker.look((state) => state.leases.size)).toBe(1);
    await clock.advance(1);
    expect(await broker.look((state) => state.leases.size)).toBe(0);
  });

  test("ends, when its probe finds that another has written", async () => {
    const { broker, clock, journal, told } = await readOnly();
    journal.appendFails = new JournalConflict("Cannot append: another has");
    await clock.advance(1_000);
    expect([broker.mode, told.fatal]).toEqual(["ended", [journal.appendFails]]);
    expect(await broker.look((state) => state.leases.size)).toBe(1);
  });

  test("closes without a probe", async () => {
    const { broker, clock, journal, told } = await readOnly();
    await broker.close();
    const before = journal.appends.length;
    await journal.close();
    await clock.advance(60_000);
    expect([broker.mode, journal.appends.length, told.fatal]).toEqual(["ended", before, []]);
  });
});

describe("Broker whose journal cannot be read back", () => {
  test("refuses commands, heartbeats and reads, until it is", async () => {
    const { broker, clock, journal } = await readOnly();
    journal.appendFails = undefined;
    await clock.advance(1_000);
    journal.appendFails = full();
    journal.readFails = unreadable();
    await expect(broker.submit(release("a"))).rejects.toMatchObject(unavailable);
    await settled();
    expect(broker.mode).toBe("unreadable");
    await expect(broker.submit(renew("a"))).rejects.toMatchObject(unavailable);
    await expect(broker.look(() => 0)).rejects.toMatchObject(unavailable);
    journal.readFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("read-only");
    expect(await broker.submit(renew("a"))).toMatchObject({ type: "granted" });
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("leading");
  });

  test("tells of it after a bug, and leads again", async () => {
    const { broker, clock, journal, told } = await brokerOf([pool("aws", 1)]);
    journal.readFails = unreadable();
    await expect(broker.submit(poison())).rejects.toThrow("poison");
    await settled();
    expect([broker.mode, told.writable]).toEqual(["unreadable", [journal.readFails]]);
    journal.readFails = undefined;
    await clock.advance(1_000);
    expect([broker.mode, told.writable.at(-1)]).toEqual(["leading", null]);
  });

  test("shows nothing that may not be true, once it has ended", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    journal.appendFails = full();
    journal.readFails = new Error("damaged");
    await expect(broker.submit(acquire("a", "aws"))).rejects.toMatchObject(unavailable);
    await expect(broker.look((state) => state.leases.size)).rejects.toBeInstanceOf(BrokerClosed);
    expect(broker.mode).toBe("ended");
  });

  test("closes, and probes no more", async () => {
    const { broker, clock, journal, told } = await readOnly();
    journal.readFails = unreadable();
    await expect(broker.submit(poison())).rejects.toMatchObject(unavailable);
    await broker.close();
    await journal.close();
    await clock.advance(60_000);
    expect(told.fatal).toEqual([]);
  });
});

describe("Broker on standby", () => {
  test("refuses commands, heartbeats and reads, because another leads", async () => {
    const { broker, told } = await standby();
    expect([broker.mode, broker.ended, told.fatal]).toEqual(["standby", null, []]);
    for (const command of [acquire("d", "aws"), release("b"), renew("b")]) {
      await expect(broker.submit(command)).rejects.toBeInstanceOf(NotLeader);
    }
    await expect(broker.look(() => 0)).rejects.toBeInstanceOf(NotLeader);
  });

  test("writes nothing, ends nothing and probes nothing", async () => {
    const { broker, clock, journal } = await standby();
    const before = journal.appends.length;
    await clock.advance(600_000);
    expect([broker.mode, journal.appends.length]).toEqual(["standby", before]);
  });

  test("answers those who wait on an open connection, also those who come now", async () => {
    const site = await brokerOf([pool("aws", 1)], { onConflict: () => "step-down" });
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws", { waitMs: 60_000 }));
    const waited = site.broker.untilSettled("b" as never, 60_000, { present: true });
    await settled();
    site.journal.appendFails = new JournalConflict("Cannot append: another has");
    await expect(site.broker.submit(release("a"))).rejects.toBeInstanceOf(NotLeader);
    await waited;
    await site.broker.untilSettled("b" as never, 60_000, { present: true });
    expect(site.broker.openWaits).toBe(0);
  });

  test("steps down also when a probe finds that another has written", async () => {
    const site = await brokerOf([pool("aws", 1)], { onConflict: () => "step-down" });
    site.journal.appendFails = full();
    await expect(site.broker.submit(acquire("a", "aws"))).rejects.toMatchObject(unavailable);
    site.journal.appendFails = new JournalConflict("Cannot append: another has");
    await site.clock.advance(1_000);
    expect(site.broker.mode).toBe("standby");
  });

  test("leads again from what the other has written, with a full ttl for everybody", async () => {
    const { broker, other, clock, told } = await standby();
    await clock.advance(9_000);
    await other.broker.submit(renew("c"));
    const want = await other.broker.look(fingerprint);
    await other.broker.close();
    broker.lead();
    expect(await broker.look(fingerprint)).toBe(want);
    await settled();
    expect([broker.mode, broker.head]).toEqual(["leading", other.broker.head]);
    const types = told.committed.flatMap(({ events }) => events.map(({ type }) => type));
    expect(types.slice(-2)).toEqual(["lease-ended", "lease-granted"]);
    await clock.advance(9_999);
    expect(await broker.submit(renew("b"))).toMatchObject({ type: "granted" });
    expect(await broker.submit(release("b"))).toEqual({ type: "done" });
  });

  test("stays there, when the other writes between reading and the first write", async () => {
    const { broker, journal } = await standby();
    journal.appendFails = new JournalConflict("Cannot append: another has");
    broker.lead();
    await settled();
    expect(broker.mode).toBe("standby");
  });

  test("tries again by itself, when the journal cannot be read as it is told to lead", async () => {
    const { broker, clock, journal } = await standby();
    journal.readFails = unreadable();
    broker.lead();
    await settled();
    expect(broker.mode).toBe("unreadable");
    journal.readFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("leading");
  });

  test("closes without writing", async () => {
    const { broker, journal } = await standby();
    const before = journal.appends.length;
    await broker.close();
    expect([broker.mode, journal.appends.length, journal.snapshots]).toEqual(["ended", before, 0]);
    await expect(broker.submit(renew("b"))).rejects.toBeInstanceOf(BrokerClosed);
  });
});

describe("Broker that leads", () => {
  test("is not changed by being told to", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    const before = journal.appends.length;
    broker.lead();
    await settled();
    expect([broker.mode, journal.appends.length]).toEqual(["leading", before]);
  });

  test("keeps an answer that means nothing apart from none at all", async () => {
    const { broker, journal, clock } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws"));
    journal.appendFails = full();
    await expect(broker.submit(release("a"))).rejects.toMatchObject(unavailable);
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(await broker.submit(release("a"))).toEqual({ type: "done" });
  });

  test("names the other process to whoever decides what a conflict means", async () => {
    const causes: Error[] = [];
    const { broker, journal } = await brokerOf([pool("aws", 1)], {
      onConflict: (cause) => {
        causes.push(cause);
        return "end";
      },
    });
    await journal.memory.append(journal.head, broker.now(), [
      { type: "request-left", id: "x" as never, why: "cancelled" },
    ]);
    await expect(broker.submit(acquire("a", "aws"))).rejects.toBeInstanceOf(BrokerClosed);
    await settled();
    expect([broker.mode, causes[0]?.name]).toEqual(["ended", "JournalConflict"]);
  });
});
