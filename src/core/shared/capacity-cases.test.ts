/**
 * The cases of the vSphere capacity manager's tests. It held a part of a request while it waited;
 * Berth holds all or nothing.
 */
import { describe, expect, test } from "vitest";
import { checkState } from "../../../sim/invariants.ts";
import { change, Lending, release } from "../decide/lending.suite.ts";
import { capacityPool, type MemberText, partsHeld, used, want } from "./capacity.suite.ts";

const single = Array.from({ length: 31 }, (_, index) => `ci-vlan-${1_300 - index}`);
const workload = (spec: MemberText = {}): MemberText => ({
  capacity: { vcpus: 240, memory: 2_684 },
  labels: { vcenter: "test.com" },
  parts: { networks: single },
  ...spec,
});
const smallOne = (spec: MemberText = {}): MemberText =>
  workload({ capacity: { vcpus: 32, memory: 383 }, excluded: true, ...spec });

const inventory = () =>
  new Lending(
    capacityPool({
      ci: workload({ overcommit: { vcpus: "2.5" } }),
      t2: workload({ labels: { vcenter: "test-2.com" } }),
      w1: smallOne(),
      w2: smallOne(),
      w3: smallOne(),
      gpu: workload({
        taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }],
        labels: { vcenter: "test.com", region: "us-west", tier: "gpu" },
      }),
      west: workload({ labels: { vcenter: "test.com", region: "us-west", tier: "standard" } }),
    }),
  );

const small = { amount: { vcpus: 16, memory: 16, networks: 1 } };
const medium = { amount: { vcpus: 160, memory: 160, networks: 10 } };
const networks = (count: number, resource?: string) => ({
  amount: { networks: count },
  ...(resource === undefined ? undefined : { resource }),
});
const granted = (lending: Lending, ...ids: string[]) =>
  ids.map((id) => lending.held(id) !== undefined);

describe("as in the reference's end-to-end tests", () => {
  test("one small, two small: each has one resource and one network of its own", () => {
    const lending = inventory();
    lending.outcome(want("a", small), want("b", small));
    expect(granted(lending, "a", "b")).toEqual([true, true]);
    expect(partsHeld(lending, "a")).not.toEqual(partsHeld(lending, "b"));
  });

  test("five medium with 31 networks: three are granted, two wait and hold nothing", () => {
    const lending = inventory();
    const ids = ["a", "b", "c", "d", "e"];
    for (const id of ids) lending.do(want(id, medium));
    expect(granted(lending, ...ids)).toEqual([true, true, true, false, false]);
    const held = ids.flatMap((id) => partsHeld(lending, id)?.flat() ?? []);
    expect([held.length, new Set(held).size]).toEqual([30, 30]);
    checkState(lending.state, lending.now);
  });

  test("an excluded resource is lent to a request that names it", () => {
    const lending = inventory();
    lending.do(want("a", { ...small, resource: "w3" }));
    expect(lending.held("a")).toEqual(["w3"]);
  });

  test("30 networks, then 5: the second request waits until the first is released", () => {
    const lending = inventory();
    lending.outcome(want("a", networks(30, "ci")), want("b", networks(5, "ci")));
    expect(granted(lending, "b")).toEqual([false]);
    lending.do(release("a"));
    expect(granted(lending, "b")).toEqual([true]);
  });

  test("fillers of 10, 9 and 9, then 5 anywhere", () => {
    const lending = inventory();
    lending.outcome(want("f1", networks(10, "ci")), want("f2", networks(9, "w1")));
    lending.outcome(want("f3", networks(9, "w2")), want("a", networks(5)));
    expect(granted(lending, "a")).toEqual([false]);
    lending.do(release("f2"));
    expect(granted(lending, "a")).toEqual([true]);
  });

  test("fillers of 12, 12 and 5: the older goes first, then both have theirs", () => {
    const lending = inventory();
    lending.outcome(want("f1", networks(12)), want("f2", networks(12)), want("f3", networks(5)));
    lending.outcome(want("l1", networks(5)), want("l2", networks(5)));
    lending.do(release("f3"));
    expect(granted(lending, "l1", "l2")).toEqual([true, false]);
    lending.do(release("f1"));
    expect(granted(lending, "l1", "l2")).toEqual([true, true]);
  });

  test("a full resource: a request for it waits, and the reason names the shortfall", () => {
    const lending = inventory();
    lending.do(want("filler", { resource: "w1", amount: { vcpus: 32 } }));
    expect(lending.outcome(want("a", { ...small, resource: "w1" }))).toMatchObject({
      type: "waiting",
      request: {
        reason: {
          code: "no_room",
          message: expect.stringMatching(/Does not fit on w1: needs 16 vcpus \(0 free\)/),
        },
      },
    });
  });

  test("selectors and tolerations", () => {
    const lending = inventory();
    const standard = { region: "us-west", tier: "standard" };
    lending.do(want("a", { ...small, selector: standard }));
    expect(lending.held("a")).toEqual(["west"]);
    expect(
      lending.outcome(want("b", { ...small, selector: { region: "us-central" } })),
    ).toMatchObject({
      refusal: { code: "too_few_eligible", possible: 0 },
    });
    for (let number = 0; number < 20; number++) lending.do(want(`n${number}`, small));
    expect(used(lending, "gpu")).toMatchObject({ vcpus: 0 });
    const tolerations = [{ key: "dedicated", value: "gpu", effect: "NoSchedule" as const }];
    lending.do(want("c", { ...small, selector: { tier: "gpu" }, tolerations }));
    expect(lending.held("c")).toEqual(["gpu"]);
  });

  test("two at once: two different ones, and one network that both have", () => {
    const lending = inventory();
    lending.do(want("a", { ...small, count: 2 }));
    expect(new Set(lending.held("a")).size).toBe(2);
    const [first, second] = partsHeld(lending, "a") ?? [];
    expect(first).toEqual(second);
  });

  test("an overcommitted, empty one is no emptier than another", () => {
    const lending = inventory();
    for (let number = 0; number < 6; number++) lending.do(want(`n${number}`, small));
    const places = ["ci", "t2", "west"].map((name) => lending.shared(name).claims.size);
    expect(places).toEqual([3, 2, 1]);
  });

  /** Each would hold one resource and wait forever for the other. */
  test("no two requests deadlock over two resources each", () => {
    const half = { capacity: { vcpus: 50 } };
    const lending = new Lending(capacityPool({ p1: half, p2: half }));
    const two = { count: 2, amount: { vcpus: 30 } };
    lending.do(want("filler", { resource: "p2", amount: { vcpus: 30 } }));
    lending.outcome(want("a", two), want("b", two));
    expect(used(lending, "p1")).toEqual({ vcpus: 0 });
    lending.do(release("filler"));
    expect(granted(lending, "a", "b")).toEqual([true, false]);
    lending.do(release("a"));
    expect(granted(lending, "b")).toEqual([true]);
  });

  test("a request for a cordoned resource delays no other, and is granted once it is back", () => {
    const lending = inventory();
    lending.do(change("w1", { drained: true }));
    lending.outcome(want("a", { ...small, resource: "w1" }), want("b", small));
    expect(granted(lending, "a", "b")).toEqual([false, true]);
    lending.do(change("w1", { drained: false }));
    expect(granted(lending, "a")).toEqual([true]);
  });
});
