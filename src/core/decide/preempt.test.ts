/** Pools with `preempt` take leases back for waiting requests, with notice. */
import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import type { PoolName, RequestId, SpaceName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { anySpace } from "../model/space.ts";
import { acquire, change, Lending, leave, pool, release, renew, runTo } from "./lending.suite.ts";

const preempt = { preempt: true, noticeMs: 30_000, ttlMs: 60_000 };
const [a, b] = ["a" as SpaceName, "b" as SpaceName];

const noticed = (made: Lending) => {
  return [...made.state.leases.values()].flatMap(({ id, notice }) => (notice === null ? [] : [id]));
};

const reasonFor = (made: Lending, id: string) => {
  return made.state.leases.get(id as RequestId)?.notice?.reason.why;
};

function check(made: Lending): void {
  checkState(made.state, made.now);
  checkSnapshot(made.state);
}

/** Grants leases a second apart, each to `id` with a priority. */
function holding(made: Lending, wanted: string, leases: Readonly<Record<string, number>>): void {
  for (const [id, priority] of Object.entries(leases)) {
    made.now = (made.now + 1_000) as typeof made.now;
    made.do(acquire(id, wanted, { priority }));
  }
}

describe("a pool with preempt", () => {
  test("gives notice to the youngest lease of the lowest priority", () => {
    const made = new Lending(pool("aws", 4, preempt));
    holding(made, "aws", { high: 5, old: 0, young: 0, middle: 1 });
    made.do(acquire("urgent", "aws", { priority: 3 }));
    expect(noticed(made)).toEqual(["young"]);
    expect(reasonFor(made, "young")).toBe("job-urgent with priority 3 needs aws");
    check(made);
    made.do(release("young"));
    expect(made.held("urgent")).toHaveLength(1);
    expect(made.end("young")).toBe("released");
  });

  test("revokes the lease when the notice is over, and lends it when its holder has stopped", () => {
    const made = new Lending(pool("aws", 1, preempt));
    holding(made, "aws", { low: 0 });
    made.do(acquire("urgent", "aws", { priority: 3 }));
    const endsBy = made.now + 30_000;
    runTo(made, endsBy - 1);
    expect(made.outcome(renew("low"))).toMatchObject({
      type: "granted",
      lease: { notice: { until: endsBy } },
    });
    runTo(made, endsBy);
    expect(made.outcome(renew("low"))).toMatchObject({ refusal: { code: "lease_ended" } });
    expect(made.held("urgent")).toBeUndefined();
    made.do({ type: "keep-waiting", id: "urgent" as RequestId, waitMs: 300_000 });
    // Its last heartbeat was just before the end of the notice.
    runTo(made, endsBy - 1 + 60_000);
    expect(made.end("low")).toBe("revoked");
    expect(made.held("urgent")).toHaveLength(1);
    check(made);
  });

  test("never ends more leases than needed, and none twice for the same need", () => {
    const made = new Lending(pool("aws", 4, preempt));
    holding(made, "aws", { one: 0, two: 0, three: 0, four: 0 });
    made.do(acquire("urgent", "aws:2", { priority: 3 }));
    expect(noticed(made)).toEqual(["three", "four"]);
    made.do(acquire("x", "aws"));
    made.do(release("four"));
    made.tickAt(made.now + 1_000);
    expect(noticed(made)).toEqual(["three"]);
    made.do(release("three"));
    expect(made.held("urgent")).toHaveLength(2);
    expect(noticed(made)).toEqual([]);
  });

  test("spares small leases that a larger one makes unnecessary", () => {
    const made = new Lending(pool("aws", 4, preempt));
    holding(made, "aws:3", { large: 1 });
    holding(made, "aws", { small: 0 });
    made.do(acquire("urgent", "aws:3", { priority: 3 }));
    expect(noticed(made)).toEqual(["large"]);
  });

  test.each<[string, PoolSpec[], string]>([
    ["the pool does not say so", [pool("aws", 1)], "aws"],
    ["another pool is missing too", [pool("aws", 1, preempt), pool("gcp", 1)], "aws gcp"],
  ])("ends nothing if %s", (_, pools, wanted) => {
    const made = new Lending(...pools);
    for (const { name } of pools) holding(made, name, { [`low-${name}`]: 0 });
    made.do(acquire("urgent", wanted, { priority: 3 }));
    expect(noticed(made)).toEqual([]);
  });

  test("ends leases over several pools only if all of them allow it", () => {
    const made = new Lending(pool("aws", 1, preempt), pool("gcp", 1));
    holding(made, "aws gcp", { both: 0 });
    made.do(acquire("urgent", "aws", { priority: 3 }));
    expect(noticed(made)).toEqual([]);
    made.configure(pool("aws", 1, preempt), pool("gcp", 1, preempt));
    expect(noticed(made)).toEqual(["both"]);
  });

  test("ends nothing for a priority that is not higher, or that rose by waiting", () => {
    const pools = [pool("aws", 1, { ...preempt, ttlMs: 86_400_000 })];
    const made = new Lending(...pools);
    const ageing = { everyMs: 60_000, step: 1, max: 5 };
    made.do({ type: "configure", pools, priorities: { classes: {}, ageing } });
    holding(made, "aws", { low: 0 });
    made.do(acquire("same", "aws"));
    runTo(made, 600_000);
    expect(made.state.requests.get("same" as RequestId)?.priority).toBe(5);
    expect(noticed(made)).toEqual([]);
    const reason = { by: "ann", why: "test" };
    made.do({ type: "bump", id: "same" as RequestId, priority: 6, reason });
    expect(noticed(made)).toEqual(["low"]);
  });

  test("ends nothing for a request that is not next, or whose resource is drained", () => {
    const made = new Lending(pool("aws", 2, preempt));
    holding(made, "aws", { one: 0, two: 2 });
    made.do(acquire("next", "aws:2", { priority: 2 }));
    expect(noticed(made)).toEqual([]);
    made.do(acquire("behind", "aws", { priority: 1 }));
    expect(noticed(made)).toEqual([]);
    made.do(leave("next"));
    expect(noticed(made)).toEqual(["one"]);
    const drained = new Lending(pool("aws", 1, preempt));
    holding(drained, "aws", { low: 0 });
    drained.outcome(change("aws-1", { drained: true }), acquire("urgent", "aws", { priority: 3 }));
    expect(noticed(drained)).toEqual([]);
  });

  test("ends leases for a whole gang, or none", () => {
    const made = new Lending(pool("aws", 2, preempt));
    holding(made, "aws", { one: 0, two: 0 });
    const group = { name: "g", size: 2 };
    made.do(acquire("m", "aws", { group, priority: 3 }));
    expect(noticed(made)).toEqual([]);
    made.do(acquire("n", "aws", { group, priority: 3 }));
    expect(noticed(made)).toEqual(["one", "two"]);
    made.outcome(release("one"), release("two"));
    expect([made.held("m"), made.held("n")]).toEqual([["aws-1"], ["aws-2"]]);
  });

  test("respects selections", () => {
    const made = new Lending(pool("aws", 2, preempt));
    holding(made, "aws", { one: 0, two: 0 });
    const items = [{ pool: "aws" as PoolName, count: 1, resource: "aws-1" }];
    const ask = { holder: "job", items, priority: 3 };
    made.do({ type: "acquire", id: "urgent" as RequestId, ask, waitMs: 0 });
    expect(noticed(made)).toEqual(["one"]);
  });
});

describe("a space within its quota", () => {
  function lending(more: object = {}): Lending {
    const pools = [pool("aws", 4, { ...preempt, ...more })];
    const made = new Lending(...pools);
    const policy = (max: number) => ({
      ...{ weight: 1, cohort: "all" },
      quotas: [{ pool: "aws" as PoolName, max }],
    });
    const spaces = [
      { name: a, policy: policy(2) },
      { name: b, policy: policy(2) },
    ];
    made.do({ type: "configure", pools, spaces: { ...anySpace, spaces } });
    for (const id of ["1", "2", "3", "4"]) {
      made.now = (made.now + 1_000) as typeof made.now;
      made.do(acquire(id, "aws", { space: a }));
    }
    return made;
  }

  test("takes back what others have borrowed, and no more", () => {
    const made = lending();
    for (const id of ["5", "6", "7"]) made.do(acquire(id, "aws", { space: b }));
    expect(noticed(made)).toEqual(["4"]);
    expect(reasonFor(made, "4")).toBe("a request of another space needs aws within its own quota");
    made.do(release("4"));
    expect(made.held("5")).toHaveLength(1);
    expect(noticed(made)).toEqual(["3"]);
    made.do(release("3"));
    // `b` holds its quota now, and `a` too: 7 would have to borrow.
    expect([made.held("6")?.length, noticed(made)]).toEqual([1, []]);
    check(made);
  });

  test("takes nothing back without preempt", () => {
    const made = lending({ preempt: false });
    made.do(acquire("5", "aws", { space: b }));
    expect(noticed(made)).toEqual([]);
  });
});
