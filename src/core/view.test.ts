import { describe, expect, test } from "vitest";
import type { RequestId } from "./ids.ts";
import { acquire, Lending, pool, release } from "./lending.suite.ts";
import type { Instant } from "./time.ts";
import { requestView } from "./view.ts";

function viewOf(lending: Lending, id: string) {
  const request = lending.state.requests.get(id as RequestId);
  if (request === undefined) throw new Error(`Cannot view ${id}: it does not wait`);
  return requestView(request, lending.now);
}

/** A pool in which so many holds of a second have been seen. */
function afterHolds(count: number, size = 1): Lending {
  const lending = new Lending(pool("aws", size));
  for (let number = 0; number < count; number++) {
    lending.do(acquire(`h${number}`, "aws"));
    lending.now = (lending.now + 1_000) as Instant;
    lending.do(release(`h${number}`));
  }
  lending.do(acquire("holder", `aws:${size}`));
  return lending;
}

describe("requestView()", () => {
  test("estimates nothing from fewer than five holds", () => {
    const lending = afterHolds(4);
    lending.do(acquire("me", "aws"));
    expect(viewOf(lending, "me").etaMs).toBeNull();
  });

  test.each([
    ["one place, one resource", 1, 0, "aws", 1_000],
    ["three places, one resource", 1, 2, "aws", 3_000],
    ["three places, four resources", 4, 2, "aws", 750],
    ["several at once take longer", 4, 0, "aws:4", 1_000],
  ])("estimates a share of the mean hold for each place: %s", (_, size, ahead, wanted, etaMs) => {
    const lending = afterHolds(5, size);
    for (let number = 0; number < ahead; number++) lending.do(acquire(`w${number}`, "aws"));
    lending.do(acquire("me", wanted));
    expect(viewOf(lending, "me")).toMatchObject({ etaMs, position: ahead + 1 });
  });

  test("estimates by the slowest of several pools, and not before all are known", () => {
    const lending = new Lending(pool("aws", 1), pool("gcp", 1));
    for (const [name, holdMs] of [
      ["aws", 1_000],
      ["gcp", 5_000],
    ] as const) {
      for (let number = 0; number < 5; number++) {
        lending.do(acquire(`${name}${number}`, name));
        lending.now = (lending.now + holdMs) as Instant;
        lending.do(release(`${name}${number}`));
      }
      lending.do(acquire(`${name}-holder`, name));
      lending.do(acquire(`${name}-me`, "aws gcp"));
    }
    expect(viewOf(lending, "gcp-me").etaMs).toBe(10_000);
  });

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
