import { describe, expect, test } from "vitest";
import { acquire, leave, poll, pool, release, renew } from "../core/decide/lending.suite.ts";
import { BrokerClosed, BrokerOverloaded } from "./broker-contract.ts";
import { settled } from "./hand-clock.suite.ts";
import { brokerOf, openBroker, typesOf } from "./test-broker.suite.ts";

describe("Broker", () => {
  test("commits commands that arrive together in one append", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 3)]);
    const before = journal.appends.length;
    await Promise.all(["a", "b", "c"].map((id) => broker.submit(acquire(id, "aws"))));
    expect(journal.appends.slice(before).map(typesOf)).toEqual([
      ["lease-granted", "lease-granted", "lease-granted"],
    ]);
  });

  test("collects the next batch while a commit is in progress", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 9)]);
    journal.shut();
    const first = broker.submit(acquire("a", "aws"));
    await journal.arrived;
    const before = journal.appends.length;
    const others = ["b", "c", "d"].map((id) => broker.submit(acquire(id, "aws")));
    await settled();
    expect(journal.appends).toHaveLength(before);
    journal.open();
    await Promise.all([first, ...others]);
    expect(journal.appends.slice(before).map(({ length }) => length)).toEqual([3]);
  });

  test("decides in the order of arrival", async () => {
    const { broker } = await brokerOf([pool("aws", 1)]);
    const [a, b, c] = await Promise.all(
      ["a", "b", "c"].map((id) => broker.submit(acquire(id, "aws"))),
    );
    expect([a, b, c]).toMatchObject([
      { type: "granted" },
      { request: { position: 1 } },
      { request: { position: 2 } },
    ]);
  });

  test("answers no command before its events are durable", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    journal.shut();
    const answered: string[] = [];
    const commands = [acquire("a", "aws"), acquire("nothing", "gcp"), renew("x")];
    const all = commands.map((command) =>
      broker.submit(command).then(({ type }) => answered.push(type)),
    );
    const looked = broker.read((state) => answered.push(`${state.leases.size} leases`));
    await journal.arrived;
    await settled();
    expect(answered.filter((what) => what !== "refused")).toEqual(["0 leases"]);
    journal.open();
    await Promise.all([...all, looked]);
    expect(answered).toContain("granted");
  });

  test("reads wait until the state is durable", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    journal.shut();
    const granted = broker.submit(acquire("a", "aws"));
    await journal.arrived;
    let seen: number | undefined;
    const looked = broker.read((state) => {
      seen = state.leases.size;
    });
    await settled();
    expect(seen).toBeUndefined();
    journal.open();
    await Promise.all([granted, looked]);
    expect(seen).toBe(1);
  });

  test("writes nothing for heartbeats and polls", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws"));
    const before = journal.appends.length;
    const answers = await Promise.all(
      [renew("a"), poll("a"), renew("x")].map((c) => broker.submit(c)),
    );
    expect(answers.map(({ type }) => type)).toEqual(["granted", "granted", "refused"]);
    expect(journal.appends).toHaveLength(before);
  });

  test("publishes every commit, numbered without gaps", async () => {
    const { broker, reported } = await brokerOf([pool("aws", 2)]);
    await broker.submit(acquire("a", "aws"));
    await Promise.all([broker.submit(release("a")), broker.submit(acquire("b", "aws"))]);
    let next = 1;
    for (const { seq, events } of reported.committed) {
      expect(seq).toBe(next);
      next += events.length;
    }
    expect(next - 1).toBe(broker.head);
  });

  test("calls a listener no more after it has stopped listening", async () => {
    const { broker } = await brokerOf([pool("aws", 2)]);
    let commits = 0;
    const stop = broker.listen({ committed: () => commits++ });
    await broker.submit(acquire("a", "aws"));
    stop();
    await broker.submit(acquire("b", "aws"));
    expect(commits).toBe(1);
  });

  test("continues when a listener throws", async () => {
    const { broker, reported } = await brokerOf([pool("aws", 2)]);
    broker.listen({
      committed() {
        throw new Error("a bug of the listener");
      },
    });
    expect(await broker.submit(acquire("a", "aws"))).toMatchObject({ type: "granted" });
    expect(await broker.submit(acquire("b", "aws"))).toMatchObject({ type: "granted" });
    expect(broker.unwritable).toBeNull();
    expect(reported.failed).toHaveLength(2);
  });

  test("rejects commands while the queue is full", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 9)], { pendingMax: 2 });
    journal.shut();
    const first = broker.submit(acquire("a", "aws"));
    await journal.arrived;
    const waiting = [broker.submit(acquire("b", "aws")), broker.submit(acquire("c", "aws"))];
    await expect(broker.submit(acquire("d", "aws"))).rejects.toBeInstanceOf(BrokerOverloaded);
    journal.open();
    await Promise.all([first, ...waiting]);
    expect(await broker.submit(acquire("d", "aws"))).toMatchObject({ type: "granted" });
  });

  test("decides more commands than fit into one batch in several turns, in order", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 10_000)]);
    const before = journal.appends.length;
    const ids = Array.from({ length: 10_000 }, (_, index) => `r${index}`);
    await Promise.all(ids.map((id) => broker.submit(acquire(id, "aws"))));
    const granted = journal.appends
      .slice(before)
      .flatMap((events) => events.flatMap((event) => ("id" in event ? [event.id] : [])));
    expect(granted).toEqual(ids);
    expect(journal.appends.length - before).toBeGreaterThan(1);
  });
});

describe("Broker and time", () => {
  test("expires a lease without heartbeats by itself and grants the next request", async () => {
    const { broker, clock } = await brokerOf([pool("aws", 1, { ttlMs: 10_000 })]);
    await broker.submit(acquire("a", "aws"));
    await broker.submit(acquire("b", "aws", { ttlMs: 60_000 }));
    await clock.advance(9_999);
    expect(await broker.read((state) => [...state.leases.keys()])).toEqual(["a"]);
    await clock.advance(1);
    expect(await broker.read((state) => [...state.leases.keys()])).toEqual(["b"]);
  });

  test("handles a deadline ahead of a later command, in one commit", async () => {
    const { broker, clock, journal } = await brokerOf([
      pool("aws", 1, { ttlMs: 1_000 }),
      pool("gcp", 1),
    ]);
    await broker.submit(acquire("a", "aws"));
    journal.shut();
    const other = broker.submit(acquire("g", "gcp"));
    await journal.arrived;
    await clock.advance(1_000);
    const outcome = broker.submit(acquire("b", "aws"));
    journal.open();
    await other;
    expect(await outcome).toMatchObject({ type: "granted" });
    expect(typesOf(journal.appends.at(-1) ?? [])).toEqual(["lease-ended", "lease-granted"]);
  });

  test.each([1_000, 30_000])(
    "expires no lease with a ttl of %d ms when the process did not run for a minute",
    async (ttlMs) => {
      const { broker, clock } = await brokerOf([pool("aws", 1, { ttlMs })]);
      await broker.submit(acquire("a", "aws"));
      await clock.stall(60_000);
      expect(await broker.submit(renew("a"))).toMatchObject({ type: "granted" });
      await clock.advance(ttlMs - 1);
      expect(await broker.read((state) => state.leases.size)).toBe(1);
      await clock.advance(1);
      expect(await broker.read((state) => state.leases.size)).toBe(0);
    },
  );

  test.each([
    { ttlMs: 12_000, pauseMs: 4_000, leases: 0 },
    { ttlMs: 11_997, pauseMs: 4_000, leases: 1 },
    { ttlMs: 1_000, pauseMs: 200, leases: 0 },
    { ttlMs: 1_000, pauseMs: 334, leases: 1 },
  ])(
    "after a pause of $pauseMs ms shorter than stallMs, $leases with a ttl of $ttlMs ms stay",
    async ({ ttlMs, pauseMs, leases }) => {
      const { broker, clock } = await brokerOf([pool("aws", 1, { ttlMs })], { stallMs: 5_000 });
      await broker.submit(acquire("a", "aws"));
      await clock.advance(ttlMs - pauseMs);
      await clock.stall(pauseMs);
      expect(await broker.read((state) => state.leases.size)).toBe(leases);
    },
  );

  test("expires no lease of one second after a pause of 1.3 s, also with longer leases", async () => {
    const { broker, clock } = await brokerOf([pool("aws", 2, { ttlMs: 3_600_000 })]);
    await broker.submit(acquire("long", "aws"));
    await broker.submit(acquire("short", "aws", { ttlMs: 1_000 }));
    await clock.stall(1_300);
    expect(await broker.submit(renew("short"))).toMatchObject({ type: "granted" });
    await clock.advance(3_600_000 - 1_300);
    expect(await broker.read((state) => state.leases.size)).toBe(0); // No grace for the long one.
  });

  test("gives a full ttl from startExpiry() on, and expires nothing before", async () => {
    const first = await brokerOf([pool("aws", 1, { ttlMs: 1_000 })]);
    await first.broker.submit(acquire("a", "aws"));
    const memory = first.journal.memory.reopen();
    const { broker, clock } = await openBroker({ memory, delayExpiry: true });
    await clock.advance(60_000);
    expect(await broker.read((state) => state.leases.size)).toBe(1);
    broker.startExpiry();
    await clock.advance(999);
    expect(await broker.read((state) => state.leases.size)).toBe(1);
    await clock.advance(1);
    expect(await broker.read((state) => state.leases.size)).toBe(0);
  });

  test.each([
    [5_000, 0],
    [5_001, 1],
  ])("calls a pause of %d ms a stall only if it is longer than 5 s", async (pauseMs, leases) => {
    const { broker, clock } = await brokerOf([pool("aws", 1, { ttlMs: 15_000 })], {
      stallMs: 5_000,
    });
    await broker.submit(acquire("a", "aws"));
    await clock.advance(10_000);
    await clock.stall(pauseMs);
    expect(await broker.read((state) => state.leases.size)).toBe(leases);
  });

  test("expires no lease whose heartbeat arrived during a slow commit", async () => {
    const { broker, clock, journal } = await brokerOf([pool("aws", 3, { ttlMs: 10_000 })]);
    await broker.submit(acquire("alive", "aws"));
    await broker.submit(acquire("silent", "aws"));
    journal.shut();
    const slow = broker.submit(acquire("b", "aws", { ttlMs: 90_000 }));
    await journal.arrived;
    await clock.advance(5_000);
    const beat = broker.submit(renew("alive"));
    await clock.advance(15_000);
    journal.open();
    await slow;
    expect(await beat).toMatchObject({ type: "granted" });
    await clock.advance(0);
    const held = await broker.read((state) => [...state.leases.keys()]);
    expect(held).toEqual(expect.arrayContaining(["alive", "b"]));
  });

  test("starts at the time of the last event or later", async () => {
    const first = await brokerOf([pool("aws", 1)]);
    await first.clock.advance(3_600_000);
    await first.broker.submit(acquire("a", "aws"));
    const last = first.clock.now();
    const second = await openBroker({ memory: first.journal.memory.reopen() });
    expect(second.broker.now()).toBeGreaterThanOrEqual(last);
  });
});

describe("Broker.close()", () => {
  test("decides the submitted commands, takes a snapshot and rejects new ones", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 3)]);
    journal.shut();
    const first = broker.submit(acquire("a", "aws"));
    await journal.arrived;
    const second = broker.submit(acquire("b", "aws"));
    const closed = broker.close();
    await expect(broker.submit(acquire("c", "aws"))).rejects.toBeInstanceOf(BrokerClosed);
    journal.open();
    await closed;
    expect(await Promise.all([first, second])).toMatchObject([
      { type: "granted" },
      { type: "granted" },
    ]);
    expect(await journal.loadSnapshot()).toMatchObject({ seq: broker.head });
  });

  test("takes no snapshot if there are no events since the last one", async () => {
    const first = await brokerOf([pool("aws", 1)]);
    await first.broker.close();
    const second = await openBroker({ memory: first.journal.memory.reopen() });
    await second.broker.close();
    expect(second.journal.snapshots).toBe(0);
  });

  test("writes nothing afterwards, even if a deadline passes", async () => {
    const { broker, clock, journal, reported } = await brokerOf([pool("aws", 1, { ttlMs: 1_000 })]);
    await broker.submit(acquire("a", "aws"));
    const due = clock.advance(1_000);
    await broker.close();
    const before = journal.appends.length;
    await due;
    await clock.advance(60_000);
    expect(journal.appends).toHaveLength(before);
    expect(reported.fatal).toEqual([]);
  });

  test("writes nothing afterwards in a turn that was scheduled before", async () => {
    const { broker, clock, journal, reported } = await brokerOf([pool("aws", 1, { ttlMs: 1_000 })]);
    await broker.submit(acquire("a", "aws"));
    const turns: (() => void)[] = [];
    clock.soon = (run) => void turns.push(run);
    await clock.advance(1_000);
    expect(turns).not.toHaveLength(0);
    const before = journal.appends.length;
    await broker.close();
    await journal.close();
    for (const turn of turns) turn();
    await settled();
    expect(journal.appends).toHaveLength(before);
    expect(reported.fatal).toEqual([]);
  });

  test("ends every long poll", async () => {
    const { broker } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws"));
    await broker.submit(acquire("b", "aws", { waitMs: 60_000 }));
    const settledAt = broker.untilSettled("b" as never, 60_000, { present: true });
    await broker.close();
    await settledAt;
  });
});

describe("Broker.untilSettled()", () => {
  async function waiting() {
    const test = await brokerOf([pool("aws", 1)]);
    await test.broker.submit(acquire("a", "aws", { ttlMs: 9e6 }));
    await test.broker.submit(acquire("b", "aws", { ttlMs: 9e6 }));
    const state = { over: false };
    const listen = (signal?: AbortSignal) =>
      test.broker
        .untilSettled("b" as never, 30_000, { present: true, ...(signal && { signal }) })
        .then(() => {
          state.over = true;
        });
    return { ...test, state, listen };
  }

  test("resolves when the request is granted", async () => {
    const { broker, listen, state } = await waiting();
    const done = listen();
    await settled();
    expect([state.over, broker.openWaits]).toEqual([false, 1]);
    await broker.submit(release("a"));
    await done;
    expect(broker.openWaits).toBe(0);
  });

  test("resolves when the request leaves the queue", async () => {
    const { broker, listen } = await waiting();
    const done = listen();
    await broker.submit(leave("b"));
    await done;
  });

  test("resolves after the given time, and not before", async () => {
    const { broker, clock, listen, state } = await waiting();
    const done = listen();
    await clock.advance(29_999);
    expect(state.over).toBe(false);
    await clock.advance(1);
    await done;
    expect(broker.openWaits).toBe(0);
  });

  test("resolves when it is aborted, before or during the wait", async () => {
    const { broker, listen } = await waiting();
    await listen(AbortSignal.abort());
    const controller = new AbortController();
    const done = listen(controller.signal);
    controller.abort();
    await done;
    expect(broker.openWaits).toBe(0);
  });

  test("resolves for a request that was granted before the call", async () => {
    const { broker, listen } = await waiting();
    await broker.submit(release("a"));
    await listen();
  });

  test.each([
    [true, ["b"]],
    [false, []],
  ])("counts as a poll if the client of the request waits: %j", async (present, left) => {
    const { broker, clock } = await brokerOf([pool("aws", 1)]);
    await broker.submit(acquire("a", "aws", { ttlMs: 9e6 }));
    await broker.submit(acquire("b", "aws", { ttlMs: 1_000, waitMs: 60_000 }));
    void broker.untilSettled("b" as never, 60_000, { present });
    await broker.submit(poll("b"));
    await clock.advance(50_000);
    expect(await broker.read((state) => [...state.requests.keys()])).toEqual(left);
  });

  test("misses no grant in the commit that also answers the caller", async () => {
    const { broker, journal } = await brokerOf([pool("aws", 1), pool("gcp", 1)]);
    await broker.submit(acquire("a", "aws"));
    journal.shut();
    const other = broker.submit(acquire("g", "gcp"));
    await journal.arrived;
    const asked = broker.submit(acquire("b", "aws", { waitMs: 30_000 }));
    const wait = asked.then(() => broker.untilSettled("b" as never, 30_000, { present: true }));
    const released = broker.submit(release("a"));
    journal.open();
    await Promise.all([other, released]);
    expect(await asked).toMatchObject({ type: "waiting" });
    await wait; // The clock does not advance here, so a missed grant would block for ever.
  });
});
