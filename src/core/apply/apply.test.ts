import { describe, expect, test } from "vitest";
import { acquire, change, Lending, pool, release } from "../decide/lending.suite.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { Instant } from "../model/time.ts";
import { apply } from "./apply.ts";

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
