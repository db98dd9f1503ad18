/** The transitions between modes. `broker-failure.test.ts` tests what the broker does in each. */
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../sim/invariants.ts";
import { acquire, pool, release, renew } from "../core/decide/lending.suite.ts";
import { JournalConflict, JournalUnavailable } from "../journal/journal.ts";
import type { Broker } from "./broker.ts";
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

/** Two brokers on one journal: the second has written, and the first has met the conflict. */
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

/** One broker leads with two requests; the other has started on standby. */
async function handOver(): Promise<{ broker: Broker; other: Broker }> {
  const { broker, journal, clock } = await brokerOf([pool("aws", 1, { ttlMs: 10_000 })], {
    onConflict: () => "step-down",
  });
  await broker.submit(acquire("a", "aws"));
  await broker.submit(acquire("b", "aws"));
  const second = await openBroker({ memory: journal.memory, clock, startAs: "standby" });
  expect(second.broker.mode).toBe("standby");
  return { broker, other: second.broker };
}

describe("Broker that is read-only", () => {
  test("leads again after a probe is committed", async () => {
    const { broker, clock, journal } = await readOnly();
    expect(broker.mode).toBe("read-only");
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("leading");
  });

  test("gives every holder a full ttl when it leads again, because it rejected calls", async () => {
    const { broker, clock, journal } = await readOnly();
    await clock.advance(60_000);
    journal.appendFails = undefined;
    await clock.advance(1_000);
    await clock.advance(9_999);
    expect(await broker.read((state) => state.leases.size)).toBe(1);
    await clock.advance(1);
    expect(await broker.read((state) => state.leases.size)).toBe(0);
  });

  test("stops when its probe meets a conflict", async () => {
    const { broker, clock, journal, reported } = await readOnly();
    journal.appendFails = new JournalConflict("Cannot append: another process has written");
    await clock.advance(1_000);
    expect([broker.mode, reported.fatal]).toEqual(["stopped", [journal.appendFails]]);
    expect(await broker.read((state) => state.leases.size)).toBe(1);
  });

  test("closes without a probe", async () => {
    const { broker, clock, journal, reported } = await readOnly();
    await broker.close();
    const before = journal.appends.length;
    await journal.close();
    await clock.advance(60_000);
    expect([broker.mode, journal.appends.length, reported.fatal]).toEqual(["stopped", before, []]);
  });
});

describe("Broker whose journal cannot be reloaded", () => {
  test("rejects commands, heartbeats and reads until it has reloaded", async () => {
    const { broker, clock, journal } = await readOnly();
    journal.appendFails = undefined;
    await clock.advance(1_000);
    journal.appendFails = full();
    journal.readFails = unreadable();
    await expect(broker.submit(release("a"))).rejects.toMatchObject(unavailable);
    await settled();
    expect(broker.mode).toBe("unreadable");
    await expect(broker.submit(renew("a"))).rejects.toMatchObject(unavailable);
    await expect(broker.read(() => 0)).rejects.toMatchObject(unavailable);
    journal.readFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("read-only");
    expect(await broker.submit(renew("a"))).toMatchObject({ type: "granted" });
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(broker.mode).toBe("leading");
  });

  test("reports it after a bug, and leads again", async () => {
    const { broker, clock, journal, reported } = await brokerOf([pool("aws", 1)]);
    journal.readFails = unreadable();
    await expect(broker.submit(poison())).rejects.toThrow("poison");
    await settled();
    expect([broker.mode, reported.writable]).toEqual(["unreadable", [journal.readFails]]);
    journal.readFails = undefined;
    await clock.advance(1_000);
    expect([broker.mode, reported.writable.at(-1)]).toEqual(["leading", null]);
  });

  test("rejects reads of a state that may be wrong once it has stopped", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    journal.appendFails = full();
    journal.readFails = new Error("damaged");
    await expect(broker.submit(acquire("a", "aws"))).rejects.toMatchObject(unavailable);
    await expect(broker.read((state) => state.leases.size)).rejects.toBeInstanceOf(BrokerClosed);
    expect(broker.mode).toBe("stopped");
  });

  test("closes, and probes no more", async () => {
    const { broker, clock, journal, reported } = await readOnly();
    journal.readFails = unreadable();
    await expect(broker.submit(poison())).rejects.toMatchObject(unavailable);
    await broker.close();
    await journal.close();
    await clock.advance(60_000);
    expect(reported.fatal).toEqual([]);
  });
});

describe("Broker on standby", () => {
  test("shows listeners what was committed, not what it had decided itself", async () => {
    const { broker } = await standby();
    const held: string[][] = [];
    broker.listen({ committed: (_, { leases }) => held.push([...leases.keys()]) });
    await broker.follow();
    expect(held).toEqual([["b", "c"]]); // It had released b, which met the conflict.
  });

  test("rejects commands, heartbeats and reads, because another server leads", async () => {
    const { broker, reported } = await standby();
    expect([broker.mode, broker.stoppedBy, reported.fatal]).toEqual(["standby", null, []]);
    for (const command of [acquire("d", "aws"), release("b"), renew("b")]) {
      await expect(broker.submit(command)).rejects.toBeInstanceOf(NotLeader);
    }
    await expect(broker.read(() => 0)).rejects.toBeInstanceOf(NotLeader);
  });

  test("writes nothing, ends no lease and does not probe", async () => {
    const { broker, clock, journal } = await standby();
    const before = journal.appends.length;
    await clock.advance(600_000);
    expect([broker.mode, journal.appends.length]).toEqual(["standby", before]);
  });

  test("ends open and new long polls", async () => {
    const site = await brokerOf([pool("aws", 1)], { onConflict: () => "step-down" });
    await site.broker.submit(acquire("a", "aws"));
    await site.broker.submit(acquire("b", "aws", { waitMs: 60_000 }));
    const waited = site.broker.untilSettled("b" as never, 60_000, { present: true });
    await settled();
    site.journal.appendFails = new JournalConflict("Cannot append: another process has written");
    await expect(site.broker.submit(release("a"))).rejects.toBeInstanceOf(NotLeader);
    await waited;
    await site.broker.untilSettled("b" as never, 60_000, { present: true });
    expect(site.broker.openWaits).toBe(0);
  });

  test("steps down also when a probe meets a conflict", async () => {
    const site = await brokerOf([pool("aws", 1)], { onConflict: () => "step-down" });
    site.journal.appendFails = full();
    await expect(site.broker.submit(acquire("a", "aws"))).rejects.toMatchObject(unavailable);
    site.journal.appendFails = new JournalConflict("Cannot append: another process has written");
    await site.clock.advance(1_000);
    expect(site.broker.mode).toBe("standby");
  });

  test("leads again from the journal of the other, with a full ttl for every holder", async () => {
    const { broker, other, clock, reported } = await standby();
    await clock.advance(9_000);
    await other.broker.submit(renew("c"));
    const want = await other.broker.read(fingerprint);
    await other.broker.close();
    await broker.lead();
    expect(await broker.read(fingerprint)).toBe(want);
    await settled();
    expect([broker.mode, broker.head]).toEqual(["leading", other.broker.head]);
    const types = reported.committed.flatMap(({ events }) => events.map(({ type }) => type));
    expect(types.slice(-2)).toEqual(["lease-ended", "lease-granted"]);
    await clock.advance(9_999);
    expect(await broker.submit(renew("b"))).toMatchObject({ type: "granted" });
    expect(await broker.submit(release("b"))).toEqual({ type: "done" });
  });

  test("answers reads from what the other has written, after follow()", async () => {
    const { broker, other, reported } = await standby();
    await expect(broker.read(() => 1)).rejects.toBeInstanceOf(NotLeader);
    await broker.follow();
    expect(await broker.read(fingerprint)).toBe(await other.broker.read(fingerprint));
    await other.broker.submit(release("b"));
    await broker.follow();
    expect(await broker.read(fingerprint)).toBe(await other.broker.read(fingerprint));
    expect(reported.committed.at(-1)?.events[0]).toMatchObject({ type: "lease-ended", id: "b" });
    await expect(broker.submit(renew("c"))).rejects.toBeInstanceOf(NotLeader);
  });

  test("follows over a snapshot when events that it has not read were pruned", async () => {
    const { broker, other, journal } = await standby();
    await broker.follow();
    await other.broker.submit(release("b"));
    await other.broker.submit(release("c"));
    await other.broker.close(); // It takes a snapshot.
    await journal.memory.prune(Number.MAX_SAFE_INTEGER as never);
    await broker.follow();
    expect(await broker.read((state) => state.leases.size)).toBe(0);
    expect(broker.head).toBe(other.broker.head);
  });

  test("stays on standby if the journal is not readable at lead()", async () => {
    const { broker, journal } = await standby();
    journal.readFails = unreadable();
    await expect(broker.lead()).rejects.toMatchObject(unavailable);
    expect(broker.mode).toBe("standby");
    journal.readFails = undefined;
    await broker.lead();
    expect(broker.mode).toBe("leading");
  });

  test("closes without writing", async () => {
    const { broker, journal } = await standby();
    const before = journal.appends.length;
    await broker.close();
    expect([broker.mode, journal.appends.length, journal.snapshots]).toEqual([
      "stopped",
      before,
      0,
    ]);
    await expect(broker.submit(renew("b"))).rejects.toBeInstanceOf(BrokerClosed);
  });
});

describe("Broker that leads", () => {
  test("decides what is queued before it steps down, and ends its long polls", async () => {
    const { broker, other } = await handOver();
    const released = broker.submit(release("a"));
    const waited = broker.untilSettled("b" as never, 60_000, { present: true });
    await broker.stepDown(new Error("the server stops"));
    expect(await released).toEqual({ type: "done" });
    await waited;
    expect([broker.mode, broker.openWaits]).toEqual(["standby", 0]);
    await expect(broker.submit(renew("b"))).rejects.toBeInstanceOf(NotLeader);
    await other.lead();
    expect(await other.submit(renew("b"))).toMatchObject({ type: "granted" });
    await broker.follow();
    expect(await broker.read(fingerprint)).toBe(await other.read(fingerprint));
  });

  test("lets commands wait while it may not decide, and rejects them when it steps down", async () => {
    let may = true;
    const { broker } = await brokerOf([pool("aws", 1)], { mayDecide: () => may });
    may = false;
    let answered = false;
    const asked = broker.submit(acquire("a", "aws")).finally(() => {
      answered = true;
    });
    await settled();
    expect(answered).toBe(false);
    may = true;
    broker.resume();
    expect(await asked).toMatchObject({ type: "granted" });
    may = false;
    const renewed = broker.submit(renew("a"));
    const rejected = expect(renewed).rejects.toBeInstanceOf(NotLeader);
    await broker.stepDown(new Error("its lease ran out"));
    await rejected;
  });

  test("closes although it may not decide", async () => {
    let may = true;
    const { broker } = await brokerOf([pool("aws", 1)], { mayDecide: () => may });
    may = false;
    const rejected = expect(broker.submit(acquire("a", "aws"))).rejects.toBeInstanceOf(NotLeader);
    await broker.close();
    await rejected;
  });

  test("ignores lead()", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    const before = journal.appends.length;
    await broker.lead();
    await settled();
    expect([broker.mode, journal.appends.length]).toEqual(["leading", before]);
  });

  test("distinguishes an outcome without content from a command that was not decided", async () => {
    const { broker, journal, clock } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws"));
    journal.appendFails = full();
    await expect(broker.submit(release("a"))).rejects.toMatchObject(unavailable);
    journal.appendFails = undefined;
    await clock.advance(1_000);
    expect(await broker.submit(release("a"))).toEqual({ type: "done" });
  });

  test("passes the conflict to onConflict", async () => {
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
    expect([broker.mode, causes[0]?.name]).toEqual(["stopped", "JournalConflict"]);
  });
});
