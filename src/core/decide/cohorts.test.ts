/** Spaces of a cohort lend each other what they do not use of their quotas. */
import { describe, expect, test } from "vitest";
import { checkSnapshot, checkState } from "../../../sim/invariants.ts";
import { waitReason } from "../explain/explain.ts";
import { spaceView } from "../explain/space-view.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, RequestId, SpaceName } from "../model/ids.ts";
import type { PoolSpec } from "../model/policy.ts";
import { anySpace, type Quota } from "../model/space.ts";
import { capacityPool, vsphere, want } from "../shared/capacity.suite.ts";
import { acquire, Lending, leave, pool, release } from "./lending.suite.ts";

const [a, b, c] = ["a", "b", "c"] as SpaceName[];
const aws = "aws" as PoolName;

function spacesWith(quotas: Readonly<Record<string, Partial<Quota> & { max: number }>>) {
  const spaces = Object.entries(quotas).map(([name, quota]) => ({
    name: name as SpaceName,
    policy: { weight: 1, cohort: "all", quotas: [{ pool: aws, ...quota }] },
  }));
  return { ...anySpace, spaces };
}

function lending(
  quotas: Readonly<Record<string, Partial<Quota> & { max: number }>>,
  ...pools: PoolSpec[]
): Lending {
  const made = new Lending(...pools);
  made.do({ type: "configure", pools, spaces: spacesWith(quotas) });
  return made;
}

const ask = (id: string, wanted: string, space: SpaceName | undefined): Command =>
  acquire(id, wanted, space === undefined ? {} : { space });

const reasonOf = (made: Lending, id: string) => {
  const request = made.state.requests.get(id as RequestId);
  return request === undefined ? undefined : waitReason(request, made.now).message;
};

function check(made: Lending): void {
  checkState(made.state, made.now);
  checkSnapshot(made.state);
}

describe("a space of a cohort", () => {
  test("borrows what others do not use, up to the sum of the quotas", () => {
    const made = lending({ a: { max: 1 }, b: { max: 2 } }, pool("aws", 9));
    for (const id of ["1", "2", "3", "4"]) made.do(ask(id, "aws", a));
    expect(["1", "2", "3", "4"].map((id) => made.held(id) !== undefined)).toEqual([
      ...[true, true, true, false],
    ]);
    expect(reasonOf(made, "4")).toBe(
      "a holds 3 of its quota of 1 aws (job-1, job-2, job-3), 1 needed, and the cohort all uses 3 of 3; " +
        "next of its space",
    );
    check(made);
  });

  test("gets back what it lent before others borrow more", () => {
    const made = lending({ a: { max: 1 }, b: { max: 2 } }, pool("aws", 9));
    for (const id of ["1", "2", "3", "4"]) made.do(ask(id, "aws", a));
    made.do(ask("5", "aws", b));
    made.do(ask("6", "aws", b));
    expect(reasonOf(made, "5")).toContain("b holds 0 of its quota of 2 aws, 1 needed");
    made.do(release("1"));
    expect([made.held("4"), made.held("5")?.length]).toEqual([undefined, 1]);
    expect(reasonOf(made, "4")).toContain("the cohort all uses 3 of 3");
    made.do(release("2"));
    expect([made.held("4"), made.held("6")?.length]).toEqual([undefined, 1]);
    made.do(release("5"));
    // `b` wants no more, so `a` borrows again.
    expect(made.held("4")).toHaveLength(1);
    check(made);
  });

  test("borrows no more while another waits for resources within its quota", () => {
    const made = lending({ a: { max: 1 }, b: { max: 1 } }, pool("aws", 1), pool("gcp", 1));
    made.do(ask("h", "gcp", undefined));
    made.do(ask("1", "aws", a));
    made.do(ask("2", "aws gcp", b));
    made.do(ask("3", "aws", a));
    expect(reasonOf(made, "3")).toBe(
      "a holds 1 of its quota of 1 aws (job-1), 1 needed; 1 of the 2 of the cohort all are left, " +
        "for requests within their quotas; next of its space",
    );
    made.configure(pool("aws", 3), pool("gcp", 1));
    made.do({
      type: "configure",
      pools: [pool("aws", 3), pool("gcp", 1)],
      spaces: spacesWith({ a: { max: 1 }, b: { max: 1 } }),
    });
    made.do(leave("2"));
    expect(made.held("3")).toHaveLength(1);
    check(made);
  });

  test("two requests that must both borrow do not wait for each other", () => {
    const made = lending({ a: { max: 2 }, b: { max: 2 } }, pool("aws", 9));
    made.do(ask("h", "aws:3", a));
    made.do(ask("1", "aws:3", a));
    made.do(ask("2", "aws:3", b));
    made.do(release("h"));
    expect([made.held("1") ?? made.held("2")].flat()).toHaveLength(3);
    check(made);
  });

  test("is granted at once if its request holds back one that kept resources to borrow", () => {
    const made = lending({ a: { max: 1 }, b: { max: 3 } }, pool("aws", 3));
    made.do(ask("h", "aws", b));
    made.do(ask("1", "aws:3", a));
    // The cohort has enough for the three of `a`, so the two free ones are kept for it.
    expect(made.held("1")).toBeUndefined();
    made.do(ask("2", "aws", b));
    expect(made.held("2")).toHaveLength(1);
    check(made);
  });

  test("borrows and lends within its bounds", () => {
    const made = lending(
      { a: { max: 1, borrow: 1 }, b: { max: 3, lend: 2 }, c: { max: 1, lend: 0 } },
      pool("aws", 9),
    );
    for (const id of ["1", "2", "3"]) made.do(ask(id, "aws", a));
    expect(reasonOf(made, "3")).toContain("it may borrow 1");
    for (const id of ["4", "5", "6"]) made.do(ask(id, "aws", b));
    // One of the two that `b` lends is borrowed.
    expect(made.held("6")).toBeUndefined();
    // What `c` never lends is always there.
    made.do(ask("7", "aws", c));
    expect(made.held("7")).toHaveLength(1);
    expect(made.outcome(ask("8", "aws:3", a))).toMatchObject({
      refusal: { code: "quota_too_small", asked: 3, max: 2 },
    });
    expect(made.outcome(ask("9", "aws:5", b))).toMatchObject({
      refusal: { code: "quota_too_small", asked: 5, max: 4 },
    });
    check(made);
  });

  test("keeps what it holds when quotas become smaller, and gets nothing more", () => {
    const pools = [pool("aws", 9)];
    const made = lending({ a: { max: 1 }, b: { max: 3 } }, ...pools);
    for (const id of ["1", "2", "3"]) made.do(ask(id, "aws", a));
    made.do({ type: "configure", pools, spaces: spacesWith({ a: { max: 1 }, b: { max: 1 } }) });
    expect(made.state.leases.size).toBe(3);
    made.do(ask("4", "aws", b));
    expect(made.held("4")).toBeUndefined();
    made.do(release("1"));
    expect(made.held("4")).toBeUndefined();
    made.do(release("2"));
    expect(made.held("4")).toHaveLength(1);
    check(made);
  });

  test("lends amounts of a shared pool", () => {
    const pools = [capacityPool({ r: { capacity: { cpus: 64 } } })];
    const made = new Lending(...pools);
    const quotas = (max: number) => [{ pool: vsphere, dimension: "cpus", max }];
    const spaces = [a, b].map((name) => ({
      name: name as SpaceName,
      policy: { weight: 1, cohort: "all", quotas: quotas(8) },
    }));
    made.do({ type: "configure", pools, spaces: { ...anySpace, spaces } });
    const cpus = (id: string, amount: number, space: SpaceName | undefined) => {
      return want(id, { amount: { cpus: amount } }, space === undefined ? {} : { space });
    };
    made.outcome(cpus("1", 12, a), cpus("2", 6, b), cpus("3", 4, a));
    expect([made.held("1"), made.held("2"), made.held("3")]).toEqual([["r"], undefined, undefined]);
    made.do(release("1"));
    expect([made.held("2"), made.held("3")]).toEqual([["r"], ["r"]]);
    check(made);
  });

  test("shows what the cohort uses, and who in the space holds it", () => {
    const made = lending({ a: { max: 1 }, b: { max: 2 } }, pool("aws", 9));
    made.do(ask("1", "aws:2", a));
    expect(spaceView(made.state, a as SpaceName).quotas).toEqual([
      {
        ...{ pool: "aws", dimension: null, held: 2, max: 1 },
        cohort: { name: "all", used: 2, capacity: 3 },
        heldBy: [{ id: "1", holder: "job-1" }],
      },
    ]);
  });
});
