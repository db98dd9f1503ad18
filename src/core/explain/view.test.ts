import { describe, expect, test } from "vitest";
import { acquire, Lending, pool, release } from "../decide/lending.suite.ts";
import type { RequestId } from "../model/ids.ts";
import type { Instant } from "../model/time.ts";
import { requestView } from "./view.ts";

function viewOf(lending: Lending, id: string) {
  const request = lending.state.requests.get(id as RequestId);
  if (request === undefined) throw new Error(`Cannot view ${id}: it does not wait`);
  return requestView(request, lending.now);
}

describe("requestView()", () => {
  test("tells the place in the longest of several lines", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    lending.outcome(acquire("a", "aws"), acquire("g", "gcp"), acquire("b", "aws"));
    lending.outcome(acquire("c", "aws"), acquire("me", "aws gcp"));
    expect(viewOf(lending, "me").position).toBe(3);
  });

  test("stays true however the state goes on", () => {
    const lending = new Lending(pool("aws", 1));
    lending.outcome(acquire("a", "aws"), acquire("me", "aws"));
    const view = viewOf(lending, "me");
    const before = structuredClone(view);
    lending.outcome(release("a"), release("me"));
    expect(view).toEqual(before);
  });

  test("forgets old holds: the last few dozen weigh the most", () => {
    const lending = new Lending(pool("aws", 1, { ttlMs: 9e9 }));
    const hold = (id: string, holdMs: number) => {
      lending.do(acquire(id, "aws"));
      lending.now = (lending.now + holdMs) as Instant;
      lending.do(release(id));
    };
    for (let number = 0; number < 100; number++) hold(`slow${number}`, 100_000);
    for (let number = 0; number < 200; number++) hold(`fast${number}`, 1_000);
    const { meanMs } = lending.resource("aws-1").pool.holds;
    expect(meanMs).toBeGreaterThan(1_000);
    expect(meanMs).toBeLessThan(2_000);
  });
});

test("leaseView() stays true however the state goes on", () => {
  const lending = new Lending(pool("aws", 2));
  const outcome = lending.outcome(acquire("a", "aws:2", { labels: { x: "y" }, priority: 3 }));
  const before = structuredClone(outcome);
  lending.outcome(release("a", { claim: "1" }), release("a"));
  expect(outcome).toEqual(before);
});
