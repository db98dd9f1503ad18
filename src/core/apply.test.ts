import { describe, expect, test } from "vitest";
import { apply } from "./apply.ts";
import { generationMs, generationSizeMax } from "./ended-memory.ts";
import type { BrokerEvent } from "./event.ts";
import { acquire, change, Lending, pool, release } from "./lending.suite.ts";
import type { Instant } from "./time.ts";

describe("apply() throws where an event contradicts the state", () => {
  const contradictions: Record<string, object> = {
    "a grant of what somebody has": {
      type: "lease-granted",
      id: "b",
      ask: { holder: "b", items: [{ pool: "aws", count: 1 }], ttlMs: 1 },
      claims: [{ id: "1", resource: "aws-1", fence: 9 }],
    },
    "a grant of what does not exist": {
      type: "lease-granted",
      id: "b",
      ask: { holder: "b", items: [], ttlMs: 1 },
      claims: [{ id: "1", resource: "nothing", fence: 9 }],
    },
    "a grant that nobody asked for": { type: "lease-granted", id: "b", claims: [] },
    "the end of no lease": { type: "lease-ended", id: "b", why: "released", back: [] },
    "an end that leaves a claim out": { type: "lease-ended", id: "a", why: "released", back: [] },
    "an end with another resource": {
      type: "lease-ended",
      id: "a",
      why: "released",
      back: [{ resource: "aws-2", state: "free" }],
    },
    "the end of no claim": {
      type: "claim-ended",
      id: "a",
      claim: "7",
      why: "released",
      back: { resource: "aws-1", state: "free" },
    },
    "the heartbeat of no lease": { type: "lease-renewed", id: "b" },
    "the departure of no request": { type: "request-left", id: "b", why: "cancelled" },
    "a sign of life of no request": { type: "request-seen", id: "b", waitMs: 0 },
    "a resource added twice": { type: "resource-added", pool: "aws", resource: "aws-2" },
    "a resource in no pool": { type: "resource-added", pool: "gcp", resource: "x" },
    "the removal of what somebody has": { type: "resource-removed", resource: "aws-1" },
    "the removal of nothing": { type: "resource-removed", resource: "x" },
    "a change of nothing": { type: "resource-changed", resource: "x", drained: true },
    "an event of no known type": { type: "something" },
  };

  test.each(Object.entries(contradictions))("%s", (_, event) => {
    const lending = new Lending(pool("aws", 2));
    lending.do(acquire("a", "aws"));
    expect(() => apply(lending.state, event as BrokerEvent, 1 as Instant)).toThrow(/^Cannot /);
  });
});

describe("the memory of what ended", () => {
  test("keeps a key for a day at least, and for two at the most", () => {
    const lending = new Lending(pool("aws", 1));
    const other = (id: string) => lending.outcome(acquire(id, "aws"), release(id));
    lending.outcome(acquire("a", "aws", { key: "k" }), release("a"));
    lending.now = generationMs as Instant;
    other("b");
    const again = acquire("c", "aws", { key: "k", holder: "job-a" });
    expect(lending.outcome(again)).toMatchObject({ refusal: { code: "request_ended", id: "a" } });
    other("d");
    lending.now = (generationMs * 2) as Instant;
    other("e");
    expect(lending.outcome(again)).toMatchObject({ type: "granted", lease: { id: "c" } });
  });

  test("does not forget a key that somebody uses again", () => {
    const lending = new Lending(pool("aws", 1));
    const day = (days: number, id: string) => {
      lending.now = (generationMs * days) as Instant;
      lending.outcome(acquire(id, "aws"), release(id));
    };
    lending.outcome(acquire("a", "aws", { key: "k" }), release("a"));
    day(1, "b");
    day(2, "c");
    day(3, "d");
    lending.do(acquire("e", "aws", { key: "k", ttlMs: generationMs * 9 }));
    expect([...lending.state.keys]).toEqual([["k", "e"]]);
  });

  test(`is bounded to two generations of ${generationSizeMax} ends`, () => {
    const lending = new Lending(pool("aws", 1));
    const total = generationSizeMax * 3 + 3;
    for (let number = 0; number < total; number++) {
      lending.events.length = 0;
      lending.outcome(acquire(`r${number}`, "aws", { key: `k${number}` }), release(`r${number}`));
    }
    const { ended, keys } = lending.state;
    expect(ended.size).toBe(generationSizeMax + 3);
    expect(keys.size).toBe(generationSizeMax + 3);
    expect(ended.has(`r${total - 1}` as never)).toBe(true);
    expect(ended.get(`r${generationSizeMax * 2}` as never)).toMatchObject({ how: "released" });
  });
});

test("apply() counts every resource in the one state that it is shown in", () => {
  const lending = new Lending(pool("aws", 4));
  lending.outcome(
    acquire("a", "aws"),
    change("aws-1", { drained: true }),
    change("aws-2", { drained: true }),
    change("aws-3", { state: "dirty" }),
  );
  const shown = () =>
    Object.fromEntries(
      [...(lending.resource("aws-1").pool.shown ?? [])].filter(([, count]) => count > 0),
    );
  expect(shown()).toEqual({ busy: 1, drained: 1, dirty: 1, free: 1 });
  lending.do(release("a"));
  expect(shown()).toEqual({ drained: 2, dirty: 1, free: 1 });
});
