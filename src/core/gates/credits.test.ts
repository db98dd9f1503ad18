import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { freeze, thaw } from "../apply/snapshot.ts";
import { awaitingAdmission } from "../decide/admit.ts";
import { decide } from "../decide/decide.ts";
import {
  acquire,
  change,
  grants,
  Lending,
  leave,
  pool,
  release,
  runTo,
} from "../decide/lending.suite.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import type { PoolPolicy } from "../model/policy.ts";
import type { Instant } from "../model/time.ts";
import { every, poolIn, reasonOf, under } from "./gates.suite.ts";

const admission = { by: "the check" };
const admit = (name: string, grants = 1, forMs = 10_000): Command => {
  return { type: "admit", pool: name as PoolName, grants, forMs };
};
const withhold = (name: string, why = "too little CPU remains"): Command => {
  return { type: "withhold", pool: name as PoolName, why };
};
/** A pool with admission and one without below a limit of two. */
const underOneLimit = () =>
  new Lending(
    pool("root", 0, { limit: 2 }),
    pool("kind", 2, under("root", { admission })),
    pool("aws", 2, under("root")),
  );
const waiting = ({ state, now }: Lending, aheadMs = 0) =>
  Object.fromEntries(awaitingAdmission(state, now, aheadMs));

describe("a pool with admission", () => {
  test("lends nothing without a credit, and one claim for each", () => {
    const lending = new Lending(pool("kind", 3, { admission }));
    lending.do(acquire("a", "kind"));
    lending.do(acquire("b", "kind"));
    expect(lending.held("a")).toBeUndefined();
    lending.do(admit("kind"));
    expect([lending.held("a"), lending.held("b")]).toEqual([["kind-1"], undefined]);
    lending.do(admit("kind"));
    expect(lending.held("b")).toEqual(["kind-2"]);
    checkState(lending.state, lending.now);
  });

  test("explains the wait in the words of the check", () => {
    const lending = new Lending(pool("kind", 2, { admission }));
    lending.do(acquire("a", "kind"));
    expect(reasonOf(lending, "a")).toEqual({
      code: "admission",
      pool: "kind",
      message: "2 of 2 kind free, but the check has not answered yet; next in line",
    });
    lending.do(withhold("kind"));
    expect(reasonOf(lending, "a")?.message).toBe(
      "2 of 2 kind free, but the check says: too little CPU remains; next in line",
    );
  });

  test("keeps an unused credit for the next request, until it expires", () => {
    const lending = new Lending(pool("kind", 2, { admission }));
    lending.do(admit("kind", 2));
    lending.do(acquire("a", "kind"));
    expect(lending.held("a")).toEqual(["kind-1"]);
    lending.tickAt(lending.now + 10_000);
    lending.do(acquire("b", "kind"));
    expect(lending.held("b")).toBeUndefined();
  });

  test("takes its credits back when the word changes, and adds none up", () => {
    const lending = new Lending(pool("kind", 3, { admission }));
    lending.do(admit("kind", 3));
    lending.do(admit("kind", 1));
    lending.do(acquire("a", "kind"));
    lending.do(acquire("b", "kind"));
    expect(lending.held("b")).toBeUndefined();
    lending.do(leave("b"));
    lending.do(admit("kind", 1));
    lending.do(withhold("kind"));
    lending.do(acquire("c", "kind"));
    expect(lending.held("c")).toBeUndefined();
  });

  test("uses none up for a request over several pools that cannot go yet", () => {
    const lending = new Lending(pool("kind", 1, { admission }), pool("aws", 1));
    lending.do(acquire("holder", "aws"));
    lending.do(acquire("both", "kind aws"));
    lending.do(admit("kind"));
    expect(lending.held("both")).toBeUndefined();
    lending.do(release("holder"));
    expect(lending.held("both")).toEqual(["kind-1", "aws-1"]);
    expect(poolIn(lending.state, "kind").admission.credits).toBe(0);
  });

  test("lends a request over two such pools when both have said yes", () => {
    const lending = new Lending(pool("one", 1, { admission }), pool("two", 1, { admission }));
    lending.do(acquire("both", "one two"));
    expect(waiting(lending)).toEqual({ one: 1, two: 1 });
    lending.do(admit("one"));
    expect(lending.held("both")).toBeUndefined();
    expect(waiting(lending)).toEqual({ two: 1 });
    lending.do(admit("two"));
    expect(lending.held("both")).toEqual(["one-1", "two-1"]);
  });

  test("lets itself be cleaned without a word", () => {
    const lending = new Lending(pool("kind", 1, { admission, onRelease: "dirty" }));
    lending.do(admit("kind"));
    lending.do(acquire("a", "kind"));
    lending.do(release("a"));
    const item = { pool: "kind" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const ask = { holder: "janitor", items: [item], ttlMs: 1_000 };
    lending.do({ type: "acquire", id: "c" as RequestId, ask, waitMs: 0 });
    expect(lending.held("c")).toEqual(["kind-1"]);
  });

  test("counts all needs of a request, in any state", () => {
    const lending = new Lending(pool("kind", 2, { admission }));
    lending.do(change("kind-2", { state: "warm" }));
    const both = [
      { pool: "kind" as PoolName, count: 1 },
      { pool: "kind" as PoolName, count: 1, state: "warm" },
    ];
    const ask = { holder: "job", items: both };
    lending.do({ type: "acquire", id: "a" as RequestId, ask, waitMs: 0 });
    expect(waiting(lending)).toEqual({ kind: 2 });
    lending.do(admit("kind", 1));
    expect(lending.held("a")).toBeUndefined();
    lending.do(admit("kind", 2));
    expect(lending.held("a")).toEqual(["kind-1", "kind-2"]);
  });

  test("does not keep a limit for a request that waits for the check", () => {
    const lending = underOneLimit();
    lending.do(acquire("a", "kind"));
    lending.do(acquire("b", "aws"));
    expect([lending.held("a"), lending.held("b")]).toEqual([undefined, ["aws-1"]]);
    lending.do(admit("kind"));
    expect(lending.held("a")).toEqual(["kind-1"]);
  });

  test("lends resources to others when the credits they were kept for expire", () => {
    const lending = underOneLimit();
    lending.do(acquire("first", "aws"));
    lending.do(admit("kind", 2));
    lending.do(acquire("big", "kind:2"));
    lending.do(acquire("small", "aws"));
    expect([lending.held("big"), lending.held("small")]).toEqual([undefined, undefined]);
    lending.tickAt(10_000);
    expect(lending.held("small")).toEqual(["aws-2"]);
    checkState(lending.state, lending.now);
  });

  test("counts clients that did not wait, for some time", () => {
    const lending = new Lending(pool("kind", 2, { admission }));
    const ask = { holder: "job", items: [{ pool: "kind" as PoolName, count: 1 }] };
    const now = { type: "acquire", ask, waitMs: 0, nowOnly: true } as const;
    expect(lending.outcome({ ...now, id: "a" as RequestId })).toMatchObject({ type: "refused" });
    expect(waiting(lending)).toEqual({ kind: 1 });
    lending.do(admit("kind"));
    expect(waiting(lending)).toEqual({});
    lending.do({ ...now, id: "b" as RequestId });
    expect(lending.held("b")).toEqual(["kind-1"]);
    lending.do({ ...now, id: "c" as RequestId });
    lending.tickAt(60_000);
    expect(waiting(lending)).toEqual({});
  });

  test("is not taken by name without a credit, either", () => {
    const lending = new Lending(pool("kind", 1, { admission }));
    const take: Command = {
      ...{ type: "take", holder: "boskos", ids: ["t" as RequestId], state: "free", into: "busy" },
      resources: ["kind-1" as never],
    };
    expect(lending.outcome(take)).toMatchObject({ refusal: { code: "none_free" } });
    lending.do(admit("kind"));
    expect(lending.outcome(take)).toMatchObject({ type: "taken" });
    expect(poolIn(lending.state, "kind").admission.credits).toBe(0);
  });

  test("keeps the answer and the used credits over a restart", () => {
    const lending = new Lending(pool("kind", 3, { admission }));
    lending.do(admit("kind", 2, 60_000));
    lending.do(acquire("a", "kind"));
    checkSnapshot(lending.state);
    const again = thaw(freeze(lending.state));
    decide(again, acquire("b", "kind"), lending.now);
    decide(again, acquire("c", "kind"), lending.now);
    expect([again.leases.has("b" as RequestId), again.leases.has("c" as RequestId)]).toEqual([
      true,
      false,
    ]);
  });

  test("lends as ever once the file says no more of it", () => {
    const lending = new Lending(pool("kind", 1, { admission }));
    lending.do(acquire("a", "kind"));
    lending.configure(pool("kind", 1));
    expect(lending.held("a")).toEqual(["kind-1"]);
    expect(lending.outcome(admit("kind"))).toEqual({ type: "done" });
  });

  test("writes the same no down once", () => {
    const lending = new Lending(pool("kind", 1, { admission }));
    const events = () => decide(lending.state, withhold("kind"), lending.now).events;
    expect([events().length, events().length]).toEqual([1, 0]);
  });
});

describe("awaitingAdmission()", () => {
  const guarded = pool("kind", 2, { admission });

  test("counts the credits that the first request lacks", () => {
    const lending = new Lending(guarded);
    expect(waiting(lending)).toEqual({});
    lending.do(acquire("a", "kind:2"));
    lending.do(acquire("b", "kind"));
    expect(waiting(lending)).toEqual({ kind: 2 });
  });

  test("leaves out requests that also wait for something else", () => {
    const lending = new Lending(guarded, pool("aws", 1));
    lending.do(acquire("holder", "aws"));
    lending.do(acquire("both", "kind aws"));
    expect(waiting(lending)).toEqual({});
    lending.do(release("holder"));
    expect(waiting(lending)).toEqual({ kind: 1 });
  });

  test("names every pool that would do, since one may be full for good", () => {
    const lending = new Lending(guarded, pool("other", 1, { admission }));
    lending.do(acquire("a", "kind|other"));
    expect(waiting(lending)).toEqual({ kind: 1, other: 1 });
    lending.do(admit("other"));
    expect(lending.held("a")).toEqual(["other-1"]);
  });

  test("leaves those out whose time has not come", () => {
    const { pace } = every(60_000);
    const lending = new Lending(pool("kind", 2, { admission, pace }));
    lending.do(admit("kind"));
    lending.do(acquire("a", "kind"));
    lending.do(acquire("b", "kind"));
    expect(waiting(lending)).toEqual({});
    lending.tickAt(lending.now + 60_000);
    expect(waiting(lending)).toEqual({ kind: 1 });
  });

  test("names those whose time comes before their word would lapse", () => {
    const { pace } = every(60_000);
    const lending = new Lending(pool("kind", 2, { admission, pace }));
    lending.outcome(admit("kind"), acquire("a", "kind"), acquire("b", "kind"));
    lending.now = 49_999 as Instant;
    expect(waiting(lending, 10_000)).toEqual({});
    lending.now = 50_000 as Instant;
    expect(waiting(lending, 10_000)).toEqual({ kind: 1 });
    lending.do(admit("kind", 1, 15_000));
    expect(lending.held("b")).toBeUndefined();
    lending.tickAt(60_000);
    expect(lending.held("b")).toEqual(["kind-2"]);
  });
});

/** A busy neighbour takes each resource in the decision that frees it. */
describe("a pool with admission below a busy account", () => {
  const parent = "account" as PoolName;
  const shared = (policy: Partial<PoolPolicy>) => {
    return new Lending(
      pool("account", [], { limit: 9, ...policy }),
      pool("kind", 2, { admission, parent }),
      pool("aws", 9, { parent }),
    );
  };

  test("is lent in its turn where they share a pace", () => {
    const lending = shared(every(10_000));
    lending.outcome(acquire("first", "aws"), acquire("k", "kind"));
    for (const id of "abcde") lending.do(acquire(id, "aws"));
    for (let at = 5_000; at <= 30_000; at += 5_000) {
      runTo(lending, at);
      for (const name of Object.keys(waiting(lending, 5_000))) lending.do(admit(name));
    }
    expect(grants(lending)).toEqual({ first: 0, k: 10_000, a: 20_000, b: 30_000 });
  });

  test("is lent in its turn where they share a limit", () => {
    const lending = shared({ limit: 1 });
    lending.outcome(acquire("a", "aws"), acquire("k", "kind"), acquire("b", "aws"));
    expect(waiting(lending)).toEqual({ kind: 1 });
    lending.outcome(admit("kind"), release("a"));
    expect([lending.held("k"), lending.held("b")]).toEqual([["kind-1"], undefined]);
  });

  test("needs no check for a request behind others at that limit", () => {
    const lending = shared({ limit: 1 });
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("k", "kind"));
    expect(waiting(lending)).toEqual({});
    lending.do(release("a"));
    expect(waiting(lending)).toEqual({ kind: 1 });
  });

  test("needs no check while the pool's own limit is full", () => {
    const lending = new Lending(pool("kind", 2, { admission, limit: 1 }));
    lending.outcome(admit("kind"), acquire("a", "kind"), acquire("b", "kind"));
    expect(waiting(lending)).toEqual({});
    lending.do(release("a"));
    expect(waiting(lending)).toEqual({ kind: 1 });
  });
});

test("credits do not outlive the admission that they were given for", () => {
  const lending = new Lending(pool("kind", 3, { admission }));
  lending.do(admit("kind", 3));
  lending.configure(pool("kind", 3));
  lending.configure(pool("kind", 3, { admission }));
  lending.do(acquire("a", "kind"));
  expect(lending.held("a")).toBeUndefined();
});

test("demand of a client that did not wait is cleared once credits arrive", () => {
  const lending = new Lending(pool("kind", 3, { admission }));
  const nowOnly = { ...acquire("n", "kind"), nowOnly: true } as Command;
  expect(lending.outcome(nowOnly)).toMatchObject({ refusal: { code: "none_free" } });
  expect(waiting(lending)).toEqual({ kind: 1 });
  lending.outcome(admit("kind"), acquire("a", "kind"));
  expect(waiting(lending)).toEqual({});
});
