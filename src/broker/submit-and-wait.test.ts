import { describe, expect, test } from "vitest";
import { items, pool, release } from "../core/decide/lending.suite.ts";
import type { Ask } from "../core/model/command.ts";
import type { RequestId } from "../core/model/ids.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import { OutcomeUnknown } from "./broker-contract.ts";
import { submitAndWait, type WaitOptions, watchRequest } from "./submit-and-wait.ts";
import { brokerOf } from "./test-broker.suite.ts";

const waitMs = 30_000;
const id = "b" as RequestId;

/** A broker whose only resource is held, and a second request that waits for it. */
async function waiting(ask: Partial<Ask> = {}, options: WaitOptions = {}) {
  const site = await brokerOf([pool("aws", 1)]);
  const { broker, clock } = site;
  const first: Ask = { holder: "first", items: items("aws"), ttlMs: 9e6 };
  await broker.submit({ type: "acquire", id: "a" as RequestId, ask: first, waitMs: 0 });
  const closing = new AbortController();
  const outcome = submitAndWait(
    broker,
    { type: "acquire", id, ask: { ...first, holder: "second", ...ask }, waitMs },
    { connection: closing, ...options },
  );
  await clock.advance(0);
  const queue = () => broker.read((state) => [...state.requests.keys()]);
  return { ...site, outcome, closing, queue };
}

describe("submitAndWait()", () => {
  test("answers with the lease that a release grants", async () => {
    const { broker, outcome } = await waiting();
    await broker.submit(release("a"));
    expect(await outcome).toMatchObject({ type: "granted", lease: { id } });
  });

  test("answers with the place in the queue when time is up", async () => {
    const { clock, outcome, queue } = await waiting();
    await clock.advance(waitMs);
    expect(await outcome).toMatchObject({ type: "waiting", request: { id, position: 1 } });
    expect(await queue()).toEqual([id]);
  });

  test("takes the request out of the queue when time is up, where it is to leave", async () => {
    const { clock, outcome, queue } = await waiting({}, { whenTimedOut: "leave" });
    await clock.advance(waitMs);
    expect(await outcome).toEqual({ type: "done" });
    expect(await queue()).toEqual([]);
  });

  test("drops a request without a key when its connection closes", async () => {
    const { outcome, closing, queue, reported } = await waiting();
    closing.abort();
    await outcome;
    expect(await queue()).toEqual([]);
    const events = reported.committed.flatMap((recorded) => recorded.events);
    expect(events.at(-1)).toMatchObject({ type: "request-left", id, why: "disconnected" });
  });

  test("keeps the place of a request with a key for one ttl after its connection closed", async () => {
    const { clock, outcome, closing, queue } = await waiting({ key: "k", ttlMs: 60_000 });
    closing.abort();
    await outcome;
    await clock.advance(59_999);
    expect(await queue()).toEqual([id]);
    await clock.advance(1);
    expect(await queue()).toEqual([]);
  });

  test.each([undefined, "leave" as const])(
    "records that the client of a polled lease was answered (%s)",
    async (whenTimedOut) => {
      const ask = { key: "k", presenceMs: 60_000, byName: true as const, ttlMs: null };
      const { broker, outcome } = await waiting(ask, whenTimedOut && { whenTimedOut });
      await broker.submit(release("a"));
      expect(await outcome).toMatchObject({ type: "granted", lease: { id } });
      expect(await broker.read(({ leases }) => leases.get(id)?.delivered)).toBe(true);
    },
  );

  describe("if the journal fails while the request waits", () => {
    async function failed(ask: Partial<Ask>, options: WaitOptions = {}) {
      const site = await waiting(ask, options);
      const { broker, clock, journal, outcome } = site;
      const ended = outcome.catch((cause: unknown) => cause);
      journal.appendFails = new JournalUnavailable("It is away");
      journal.readFails = journal.appendFails;
      await broker.submit(release("a")).catch(() => {});
      expect(broker.mode).toBe("unreadable");
      await clock.advance(waitMs);
      return ended;
    }

    test("answers that it waits, as was committed", async () => {
      expect(await failed({})).toMatchObject({ type: "waiting", request: { id } });
    });

    test.each<[Partial<Ask>, WaitOptions]>([
      [{}, { whenTimedOut: "leave" }],
      [{ key: "k", presenceMs: 60_000, byName: true, ttlMs: null }, {}],
    ])("does not say that nothing was changed: %j %j", async (ask, options) => {
      expect(await failed(ask, options)).toBeInstanceOf(OutcomeUnknown);
    });
  });
});

test("watchRequest() answers an onlooker, who does not keep the request alive", async () => {
  const { broker, clock, closing, outcome, queue } = await waiting({ key: "k", ttlMs: 60_000 });
  const onlooker = watchRequest(broker, id, 600_000, {});
  await clock.advance(0);
  closing.abort();
  await outcome;
  await clock.advance(60_000);
  expect(await onlooker).toMatchObject({ type: "refused", refusal: { code: "request_ended" } });
  expect(await queue()).toEqual([]);
});
