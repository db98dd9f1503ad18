import { describe, expect, test } from "vitest";
import { apply } from "../apply/apply.ts";
import { emptyState } from "../apply/create.ts";
import { freeze, thaw } from "../apply/snapshot.ts";
import { nextDueAt } from "../decide/decide.ts";
import {
  acquire,
  change,
  grants,
  Lending,
  leave,
  poll,
  pool,
  release,
  runTo,
} from "../decide/lending.suite.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { PoolName, RequestId } from "../model/ids.ts";
import { defaultAdaptive, type PacePolicy } from "../model/policy.ts";
import { must } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { every, poolIn } from "./gates.suite.ts";
import { intervalMs, nextGrantAt, shareOf } from "./pace.ts";

const second = 1_000;
const paced = (size: number, pace: Partial<PacePolicy> = {}) =>
  pool("aws", size, every(10 * second, pace));

describe("pace: grants", () => {
  test("are so far apart, in the order of arrival, and the clock is set for each", () => {
    const lending = new Lending(paced(5));
    for (const id of ["a", "b", "c"]) lending.do(acquire(id, "aws"));
    expect(nextDueAt(lending.state)).toBe(10 * second);
    runTo(lending, 60 * second);
    expect(grants(lending)).toEqual({ a: 0, b: 10 * second, c: 20 * second });
  });

  test("come by priority, and within one in the order of arrival", () => {
    const lending = new Lending(paced(9));
    for (const id of ["a", "b", "c"]) lending.do(acquire(id, "aws"));
    for (const id of ["p", "q"]) lending.do(acquire(id, "aws", { priority: 1 }));
    runTo(lending, 60 * second);
    const turns = Object.entries(grants(lending)).sort(([, a], [, b]) => a - b);
    expect(turns.map(([id]) => id)).toEqual(["a", "p", "q", "b", "c"]);
  });

  test("cost an idle pool nothing", () => {
    const lending = new Lending(paced(5));
    lending.tickAt(3 * second);
    lending.do(acquire("a", "aws"));
    expect(lending.held("a")).toEqual(["aws-1"]);
  });

  test("save up no more than the burst in a quiet time", () => {
    const lending = new Lending(paced(9, { burst: 3 }));
    lending.tickAt(100 * second);
    for (const id of "abcdef") lending.do(acquire(id, "aws"));
    runTo(lending, 200 * second);
    const [soon, later, last] = [100, 110, 120].map((at) => at * second);
    expect(grants(lending)).toEqual({ a: soon, b: soon, c: soon, d: later, e: last, f: 130_000 });
  });

  test("are not used up by a waiter that leaves", () => {
    const lending = new Lending(paced(5));
    for (const id of "abc") lending.do(acquire(id, "aws"));
    lending.now = (5 * second) as Instant;
    lending.do(leave("b"));
    runTo(lending, 30 * second);
    expect(grants(lending)).toEqual({ a: 0, c: 10 * second });
  });

  test("wait for a freed resource, and only then use a tick", () => {
    const lending = new Lending(paced(1));
    for (const id of "abc") lending.do(acquire(id, "aws"));
    runTo(lending, 25 * second);
    lending.do(release("a"));
    expect(grants(lending)).toEqual({ b: 25 * second });
    lending.do(release("b"));
    runTo(lending, 60 * second);
    expect(grants(lending)).toEqual({ c: 35 * second });
  });

  test("of several at once pay for each", () => {
    const lending = new Lending(paced(5));
    lending.do(acquire("a", "aws:3"));
    lending.do(acquire("b", "aws"));
    runTo(lending, 60 * second);
    expect(grants(lending)).toEqual({ a: 0, b: 30 * second });
  });

  test("over several pools wait for the slowest pace, and delay no other until then", () => {
    const lending = new Lending(paced(5), pool("gcp", 2));
    lending.do(acquire("a", "aws"));
    lending.do(acquire("both", "aws gcp"));
    lending.do(acquire("c", "gcp"));
    expect(lending.held("c")).toEqual(["gcp-1"]);
    runTo(lending, 10 * second);
    expect(grants(lending)).toMatchObject({ both: 10 * second });
  });

  test("come at the same times however often the waiters ask", () => {
    const [quiet, busy] = [1, 1].map((jitter) => new Lending(paced(5, { jitter })));
    if (quiet === undefined || busy === undefined) throw new Error("Cannot compare: no pools");
    for (const lending of [quiet, busy]) {
      for (const id of "abcd") lending.do(acquire(id, "aws"));
    }
    for (let at = 0; at <= 60 * second; at += 137) {
      runTo(busy, at);
      for (const id of "abcd") busy.do(poll(id));
    }
    runTo(quiet, 60 * second);
    expect(grants(busy)).toEqual(grants(quiet));
    expect(Object.keys(grants(busy))).toHaveLength(4);
  });

  test("to whom only cleans are not paced", () => {
    const lending = new Lending(paced(3));
    lending.do(acquire("a", "aws"));
    lending.do(change("aws-2", { state: "dirty" }));
    const item = { pool: "aws" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const ask = { holder: "janitor", items: [item], byName: true as const };
    lending.do({ type: "acquire", id: "janitor" as RequestId, ask, waitMs: 0 });
    expect(lending.held("janitor")).toEqual(["aws-2"]);
  });
});

describe("pace: the state", () => {
  const busy = (): Lending => {
    const lending = new Lending(paced(5, { jitter: 0.5 }));
    for (const id of "abc") lending.do(acquire(id, "aws"));
    runTo(lending, 12 * second);
    return lending;
  };

  test("is the same when the events are replayed, and when a snapshot is thawed", () => {
    const lending = busy();
    const replayed = emptyState();
    let at = 0 as Instant;
    for (const event of lending.events as BrokerEvent[]) {
      if (event.type === "lease-granted" && event.id === "b") at = opened(lending, "b");
      if (event.type !== "pool-attended") apply(replayed, event, at);
    }
    expect(freeze(replayed)).toEqual(freeze(lending.state));
    expect(freeze(thaw(freeze(lending.state)))).toEqual(freeze(lending.state));
  });

  test("keeps a restarted broker from granting faster, and wakes it in time", () => {
    const lending = busy();
    const restarted = thaw(freeze(lending.state));
    const opens = nextGrantAt(poolIn(restarted, "aws"));
    expect(opens).toBe(nextGrantAt(poolIn(lending.state, "aws")));
    expect(opens).toBeGreaterThan(lending.now);
    expect(nextDueAt(restarted)).toBe(opens);
  });

  test("follows a new pace from the last grant on", () => {
    const lending = new Lending(paced(5, { everyMs: 3_600 * second }));
    for (const id of "abc") lending.do(acquire(id, "aws"));
    lending.now = second as Instant;
    lending.configure(paced(5, { everyMs: 5 * second }));
    runTo(lending, 60 * second);
    expect(grants(lending)).toEqual({ a: 0, b: 5 * second, c: 10 * second });
  });

  test("ends with the pace: all requests that fit are granted", () => {
    const lending = new Lending(paced(5));
    for (const id of "abc") lending.do(acquire(id, "aws"));
    lending.configure(pool("aws", 5));
    expect(grants(lending)).toEqual({ a: 0, b: 0, c: 0 });
    expect(nextDueAt(lending.state)).toBeGreaterThan(60 * second);
  });
});

function opened(lending: Lending, id: string): Instant {
  return must(lending.state.leases.get(id as RequestId), id).grantedAt;
}

describe("pace: auto", () => {
  const auto = (size: number) =>
    pool("aws", size, {
      holdMs: 100 * second,
      ...every("auto"),
    });

  test("is the hold divided by the size", () => {
    const lending = new Lending(auto(5));
    for (const id of "abc") lending.do(acquire(id, "aws"));
    runTo(lending, 60 * second);
    expect(grants(lending)).toEqual({ a: 0, b: 20 * second, c: 40 * second });
  });

  test("follows what was measured, but a row of early failures only so far", () => {
    const lending = new Lending(auto(5));
    for (let index = 0; index < 6; index++) {
      lending.now = (index * 100 * second) as Instant;
      lending.do(acquire(`j${index}`, "aws"));
      lending.now = (index * 100 * second + 60 * second) as Instant;
      lending.do(release(`j${index}`));
    }
    expect(intervalMs(poolIn(lending.state, "aws"))).toBe(12 * second);
    for (let index = 6; index < 60; index++) {
      lending.now = (index * 100 * second) as Instant;
      lending.do(acquire(`j${index}`, "aws"));
      lending.do(release(`j${index}`));
    }
    expect(intervalMs(poolIn(lending.state, "aws"))).toBe(5 * second);
  });
});

test("shareOf() is spread evenly and the same for the same id", () => {
  const shares = Array.from({ length: 4_000 }, (_, index) => shareOf("aws", `request-${index}`));
  expect(shareOf("aws", "request-7")).toBe(shares[7]);
  expect(shareOf("gcp", "request-7")).not.toBe(shares[7]);
  const quarters = [0, 0.25, 0.5, 0.75].map(
    (from) => shares.filter((share) => share >= from && share < from + 0.25).length,
  );
  for (const size of quarters) expect(Math.abs(size - 1_000)).toBeLessThan(150);
});

test("a due grant is not delayed by a request that is queued before the tick", () => {
  const { pace } = every(10_000);
  const adaptive = { ...defaultAdaptive, mode: "auto" as const, min: 1, max: 6 };
  const lending = new Lending(pool("aws", 3, { pace, adaptive }));
  for (const id of ["a", "b"]) lending.do(acquire(id, "aws"));
  lending.now = 10_500 as Instant; // The tick is late: a command comes before it.
  lending.do(acquire("c", "aws"));
  lending.do({ type: "tick" });
  expect([lending.held("a"), lending.held("b")]).toEqual([["aws-1"], ["aws-2"]]);
});

test("a shorter interval after a reload is not opened earlier by the jitter of the longer one", () => {
  const ids = Array.from({ length: 999 }, (_, index) => `r${index}`);
  const late = ids.find((id) => shareOf("aws", id) > 0.95) ?? "";
  const early = ids.find((id) => shareOf("aws", id) < 0.01) ?? "";
  const pace = { everyMs: 15_000, burst: 1, jitter: 0.25 };
  const lending = new Lending(pool("aws", 5, { holdMs: 45_000, pace }));
  lending.do(acquire(late, "aws"));
  const auto = pool("aws", 5, { holdMs: 45_000, pace: { ...pace, everyMs: "auto" } });
  lending.do({ type: "configure", pools: [auto] });
  lending.tickAt(60_000);
  lending.do(acquire(early, "aws"));
  lending.do(acquire("next", "aws"));
  const granted = (at: number) => {
    lending.tickAt(at);
    return lending.held("next") !== undefined;
  };
  expect([granted(60_000 + 9_000 * 0.75 - 1), granted(60_000 + 9_000 * 1.25)]).toEqual([
    false,
    true,
  ]);
});
