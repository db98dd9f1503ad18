/** A parent pool's pace spaces the grants of all its children together. */

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
  operator,
  pool,
  release,
  runTo,
} from "../decide/lending.suite.ts";
import { explainNeeds } from "../explain/explain.ts";
import type { Command } from "../model/command.ts";
import type { BrokerEvent } from "../model/event.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { defaultAdaptive, type PoolPolicy, type PoolSpec } from "../model/policy.ts";
import { must } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { capacityPool, want } from "../shared/capacity.suite.ts";
import { every, poolIn, reasonOf, signal, under } from "./gates.suite.ts";
import { intervalMs, nextGrantAt, shareOf } from "./pace.ts";

const second = 1_000;
const minute = 60 * second;
const tenSeconds = every(10 * second);
const account = (policy: Partial<PoolPolicy> = {}) =>
  pool("account", [], { limit: 20, ...tenSeconds, ...policy });
const children = [pool("aws", 9, under("account")), pool("set", 9, under("account"))];
const shared = (policy: Partial<PoolPolicy> = {}) => new Lending(account(policy), ...children);

const take = (id: string, names: string, into = "leased"): Command => {
  const resources = names.split(" ") as ResourceName[];
  const ids = resources.map((_, index) => `${id}-${index + 1}` as RequestId);
  return { type: "take", holder: id, ids, resources, state: "free", into };
};

describe("a parent's pace: grants", () => {
  test("are so far apart over all of them, in the order of arrival, and the clock is set", () => {
    const lending = shared();
    lending.outcome(acquire("a1", "aws"), acquire("s1", "set"), acquire("s2", "set"));
    lending.outcome(acquire("a2", "aws"), acquire("s3", "set"));
    expect(nextDueAt(lending.state)).toBe(10 * second);
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a1: 0, s1: 10_000, s2: 20_000, a2: 30_000, s3: 40_000 });
  });

  test("of several pools at one instant follow the line that all of them make", () => {
    const lending = shared({ ...every(10 * second, { burst: 3 }) });
    lending.do(acquire("first", "aws:3"));
    for (const [index, name] of ["aws", "set", "aws", "set", "aws"].entries()) {
      lending.do(acquire(`j${index}`, name));
    }
    lending.tickAt(minute); // All three grants of the burst at one time.
    expect(grants(lending)).toEqual({ first: 0, j0: minute, j1: minute, j2: minute });
    runTo(lending, 2 * minute);
    expect(grants(lending)).toMatchObject({ j3: 70 * second, j4: 80 * second });
  });

  test("come by priority, whichever pool it is in", () => {
    const lending = shared();
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("c", "aws"));
    lending.do(acquire("urgent", "set", { priority: 1 }));
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a: 0, urgent: 10_000, b: 20_000, c: 30_000 });
  });

  test("keep the pace of every level, and are charged at each", () => {
    const lending = new Lending(
      account({ ...every(4 * second) }),
      pool("profile", 9, under("account", tenSeconds)),
      pool("set", 9, under("profile")),
      pool("other", 9, under("account")),
    );
    for (const id of ["s1", "s2"]) lending.do(acquire(id, "set"));
    for (const id of ["o1", "o2", "o3"]) lending.do(acquire(id, "other"));
    lending.do(acquire("p1", "profile"));
    runTo(lending, minute);
    // A request that waits for a slower pace below does not keep others from a free tick.
    expect(grants(lending)).toEqual({
      ...{ s1: 0, o1: 4_000, o2: 8_000, s2: 12_000, o3: 16_000, p1: 22_000 },
    });
  });

  test("over two of them pay for both", () => {
    const lending = shared();
    lending.outcome(acquire("both", "aws:2 set"), acquire("a", "aws"));
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ both: 0, a: 30 * second });
    expect(lending.events.find(({ type }) => type === "lease-granted")).toMatchObject({
      paced: [{ pool: "account", ticks: 3, everyMs: 10 * second }],
    });
  });

  test("are not used up by a waiter that leaves, nor saved up beyond the burst", () => {
    const lending = shared();
    lending.outcome(acquire("a", "aws"), acquire("b", "set"), acquire("c", "aws"));
    lending.do(leave("b"));
    runTo(lending, 55 * second);
    lending.outcome(acquire("d", "set"), acquire("e", "aws"));
    runTo(lending, 2 * minute);
    expect(grants(lending)).toEqual({ a: 0, c: 10_000, d: 55_000, e: 65_000 });
  });

  test("do not wait for a request whose own pool has nothing, and are charged when made", () => {
    const lending = new Lending(
      account(),
      pool("aws", 1, under("account")),
      children[1] as PoolSpec,
    );
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("s", "set"));
    runTo(lending, 35 * second);
    expect(grants(lending)).toEqual({ a: 0, s: 10 * second });
    lending.outcome(release("a"), acquire("t", "set"));
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ s: 10_000, b: 35_000, t: 45_000 });
  });

  test("are put off by the hash of that pool and of the request before", () => {
    const lending = shared({ ...every(10 * second, { jitter: 0.5 }) });
    lending.outcome(acquire("a", "aws"), acquire("b", "set"), acquire("c", "aws"));
    runTo(lending, minute);
    const putOff = (id: string) => Math.floor(shareOf("account", id) * 0.5 * 10 * second);
    expect(putOff("a")).not.toBe(putOff("b"));
    expect(grants(lending)).toEqual({ a: 0, b: 10_000 + putOff("a"), c: 20_000 + putOff("b") });
  });

  test("to any of several go where the pace is open first", () => {
    const lending = new Lending(
      account(),
      pool("other", [], { limit: 9, ...every(25 * second) }),
      pool("east", 9, under("account")),
      pool("west", 9, under("other")),
    );
    for (const id of "abcde") lending.do(acquire(id, "east|west"));
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a: 0, b: 0, c: 10_000, d: 20_000, e: 25_000 });
    expect(["a", "b", "c", "d", "e"].map((id) => lending.held(id)?.[0]?.slice(0, 4))).toEqual([
      ...["east", "west", "east", "east", "west"],
    ]);
  });

  test("of shares count as well, in one line with whole ones", () => {
    const rooms = { m: { capacity: { vcpus: 99 } } };
    const lending = new Lending(
      account(),
      capacityPool(rooms, under("account")),
      pool("aws", 9, under("account")),
    );
    const one = { amount: { vcpus: 1 } };
    lending.outcome(want("v1", one), want("v2", one), acquire("a", "aws"), want("v3", one));
    expect(reasonOf(lending, "v2")).toMatchObject({
      code: "paced",
      message:
        "vsphere has enough free, paced by account: one every 10s, the next in 10s; next in line",
    });
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ v1: 0, v2: 10_000, a: 20_000, v3: 30_000 });
  });

  test("to a group come at one moment, and pay for each of it", () => {
    const lending = shared();
    const group = { name: "g", size: 2 };
    lending.outcome(acquire("a", "aws"), acquire("g1", "aws", { group }));
    lending.outcome(acquire("g2", "set", { group }), acquire("z", "set"));
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a: 0, g1: 10_000, g2: 10_000, z: 30_000 });
  });

  test("to whom only cleans are not paced", () => {
    const lending = shared();
    lending.outcome(acquire("a", "aws"), change("set-1", { state: "dirty" }));
    const item = { pool: "set" as PoolName, count: 1, state: "dirty", into: "cleaning" };
    const ask = { holder: "janitor", items: [item], byName: true as const };
    lending.do({ type: "acquire", id: "janitor" as RequestId, ask, waitMs: 0 });
    expect(lending.held("janitor")).toEqual(["set-1"]);
    lending.do(acquire("b", "aws"));
    runTo(lending, minute);
    expect(grants(lending)).toMatchObject({ b: 10 * second });
  });

  test("by name keep the pace of every level too, and are charged for each", () => {
    const lending = shared();
    expect(lending.outcome(acquire("a", "aws"), take("early", "set-1"))).toMatchObject({
      refusal: { code: "none_free", pool: "account" },
    });
    expect(lending.outcome(take("janitor", "set-9", "cleaning"))).toMatchObject({ type: "taken" });
    lending.now = (10 * second) as Instant;
    expect(lending.outcome(take("two", "set-1 set-2"))).toMatchObject({ type: "taken" });
    lending.do(acquire("b", "aws"));
    runTo(lending, minute);
    expect(grants(lending)).toMatchObject({ "two-1": 10_000, "two-2": 10_000, b: 30_000 });
  });
});

describe("a parent's pace: the state", () => {
  test("is the same replayed and thawed, and the thawed one is woken in time", () => {
    const lending = shared({ ...every(10 * second, { jitter: 0.5 }) });
    lending.outcome(acquire("a", "aws"), acquire("b", "set"), acquire("c", "aws"));
    const replayed = emptyState();
    for (const event of lending.events as BrokerEvent[]) apply(replayed, event, 0 as Instant);
    expect(freeze(replayed)).toEqual(freeze(lending.state));
    const restarted = thaw(freeze(lending.state));
    const opens = nextGrantAt(poolIn(restarted, "account"));
    expect(opens).toBe(nextGrantAt(poolIn(lending.state, "account")));
    expect(opens).toBeGreaterThan(0);
    expect([nextDueAt(restarted), nextDueAt(replayed)]).toEqual([opens, opens]);
  });

  test("follows a new pace from the last grant on, and ends with it", () => {
    const lending = shared({ ...every(3_600 * second) });
    for (const id of "abcd") lending.do(acquire(id, "aws"));
    lending.now = second as Instant;
    lending.configure(account({ ...every(5 * second) }), ...children);
    runTo(lending, 7 * second);
    lending.configure(pool("account", [], { limit: 20 }), ...children);
    expect(grants(lending)).toEqual({ a: 0, b: 5_000, c: 7_000, d: 7_000 });
  });

  test("applies to a pool that becomes a child, and not to one that leaves", () => {
    const [aws, set] = [pool("aws", 9), pool("set", 9, under("account"))];
    const lending = new Lending(account(), aws, set);
    lending.outcome(acquire("s", "set"), acquire("t", "set"), acquire("x", "aws:9"));
    for (const id of "ab") lending.do(acquire(id, "aws"));
    lending.configure(account(), pool("aws", 9, under("account")), pool("set", 9));
    expect(grants(lending)).toEqual({ s: 0, t: 0, x: 0 });
    lending.do(release("x"));
    expect(reasonOf(lending, "a")?.code).toBe("paced");
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ s: 0, t: 0, a: 10_000, b: 20_000 });
  });
});

describe("a parent's pace is explained", () => {
  test("by the reason, with its name, and by requests ahead in other pools", () => {
    const lending = shared();
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("s", "set"));
    lending.now = (4 * second) as Instant;
    const what = "paced by account: one every 10s, the next in 6s";
    expect(reasonOf(lending, "b")).toEqual({
      ...{ code: "paced", pool: "aws" },
      message: `8 of 9 aws free, ${what}; next in line`,
    });
    expect(reasonOf(lending, "s")).toEqual({
      ...{ code: "paced", pool: "set" },
      message: `9 of 9 set free, ${what}; others that share account are ahead`,
    });
  });

  test("by the explanation: the request waits for the pace that opens last", () => {
    const lending = new Lending(account(), pool("aws", 9, under("account", every(30 * second))));
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"));
    const explained = () => {
      const request = must(lending.state.requests.get("b" as RequestId), "b");
      return explainNeeds(request, lending.now)[0];
    };
    expect(explained()).toMatchObject({ nextAt: 30 * second, nextBy: "aws" });
    lending.configure(
      account({ ...every(40 * second) }),
      pool("aws", 9, under("account", every(30 * second))),
    );
    expect(explained()).toMatchObject({ nextAt: 40 * second, nextBy: "account" });
  });
});

describe("a parent's start rate", () => {
  const adaptive = { ...defaultAdaptive, min: 0.5, max: 6 };
  const rate = ({ state }: Lending, name = "account") => poolIn(state, name).adaptive?.rate;

  test("falls with reports of holders of any child, and spaces all children", () => {
    const lending = shared({ adaptive });
    lending.outcome(acquire("a", "aws"), acquire("s", "set"), acquire("t", "set"));
    lending.do(signal("a", { evidence: "Rate exceeded" }));
    expect(rate(lending)).toBe(4.2);
    expect(poolIn(lending.state, "account").signals).toEqual({ throttled: 1, ok: 0 });
    runTo(lending, 12 * second);
    expect(reasonOf(lending, "t")).toMatchObject({
      code: "limit_reduced",
      message: expect.stringContaining("paced by account: one every 14s instead"),
    });
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a: 0, s: 10_000, t: 24_286 });
  });

  test("falls by a report that names it, and the pool that is held is left alone", () => {
    const lending = new Lending(
      account({ adaptive }),
      pool("aws", 9, under("account", { adaptive })),
    );
    lending.do(acquire("a", "aws"));
    lending.do(signal("a", { pool: "account" as PoolName }));
    expect([rate(lending), rate(lending, "aws")]).toEqual([4.2, 6]);
    expect(lending.outcome(signal("a", { pool: "gcp" as PoolName }))).toMatchObject({
      refusal: { code: "pool_not_in_lease" },
    });
  });

  test("rises where it was used up by all of them together", () => {
    const lending = shared({ adaptive: { ...adaptive, max: 9 }, limit: 99 });
    for (let index = 0; index < 18; index++) {
      lending.do(acquire(`j${index}`, index % 2 === 0 ? "aws" : "set", { ttlMs: 60 * minute }));
    }
    for (let index = 0; index < 60; index++) {
      runTo(lending, (index + 1) * 10 * second);
      lending.outcome(release(`j${index}`));
      const more = index % 2 === 0 ? "aws" : "set";
      lending.do(acquire(`j${index + 18}`, more, { ttlMs: 60 * minute }));
    }
    runTo(lending, 10 * minute);
    expect(rate(lending)).toBe(6.1);
  });

  test("is held by an operator's pin", () => {
    const lending = shared({ adaptive });
    lending.outcome(acquire("a", "aws"), acquire("b", "aws"), acquire("c", "set"));
    lending.do({ type: "pin", pool: "account" as PoolName, rate: 3, reason: operator });
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a: 0, b: 20 * second, c: 40 * second });
  });
});

describe("a parent's automatic pace", () => {
  const auto = { holdMs: 100 * second, ...every("auto") };

  test("is the hold divided by the limit", () => {
    const lending = shared({ limit: 5, ...auto });
    lending.outcome(acquire("a", "aws"), acquire("s", "set"), acquire("b", "aws"));
    runTo(lending, minute);
    expect(grants(lending)).toEqual({ a: 0, s: 20 * second, b: 40 * second });
  });

  test("follows the measured holds of all children", () => {
    const lending = shared({ limit: 5, ...auto });
    for (let index = 0; index < 6; index++) {
      lending.now = (index * 100 * second) as Instant;
      lending.do(acquire(`j${index}`, index % 2 === 0 ? "aws" : "set"));
      lending.now = ((index * 100 + 60) * second) as Instant;
      lending.do(release(`j${index}`));
    }
    expect(intervalMs(poolIn(lending.state, "account"))).toBe(12 * second);
  });

  test("of a pool with a limit below its size depends on the limit", () => {
    const lending = new Lending(
      pool("aws", 9, { limit: 4, ...auto }),
      pool("gcp", 2, { limit: 4, ...auto }),
    );
    const intervals = ["aws", "gcp"].map((name) => intervalMs(poolIn(lending.state, name)));
    expect(intervals).toEqual([25 * second, 50 * second]);
  });
});
