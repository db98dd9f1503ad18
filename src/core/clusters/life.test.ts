import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { acquire, release } from "../decide/lending.suite.ts";
import { spaceView } from "../explain/space-view.ts";
import type { RequestId, SpaceName } from "../model/ids.ts";
import { ClusterLending, clusterPool, minutes } from "./clusters.suite.ts";

describe("the usual time of a phase", () => {
  /** Makes and destroys one cluster, which takes this long to create. */
  function creates(lending: ClusterLending, durationMs: number): void {
    const id = `job-${lending.now}`;
    lending.do(acquire(id, "ocp"));
    lending.tickAt(lending.now + durationMs);
    lending.work("creating", "free");
    lending.do(release(id));
    lending.work("destroying", "tombstone");
  }

  const usual = (lending: ClusterLending) => lending.poolNamed().clusters?.phases.creating.usualMs;

  test("is a median: one that takes much longer does not change it", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    for (const count of [10, 12, 240, 11, 10]) creates(lending, count * 1_000);
    expect(usual(lending)).toBe(11_000);
    creates(lending, 13_000);
    expect(usual(lending)).toBe(11_500);
  });

  test("forgets old times, and is kept in a snapshot", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    for (let time = 0; time < 15; time++) creates(lending, 60_000);
    for (let time = 0; time < 8; time++) creates(lending, 5_000);
    expect(usual(lending)).toBe(5_000);
    const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
    const [pool] = thawed.pools.values();
    expect(pool?.clusters).toEqual(lending.poolNamed().clusters);
  });

  test("of a snapshot that has a mean is that mean", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    creates(lending, 60_000);
    const text = JSON.stringify(freeze(lending.state));
    const earlier = /"creating":\{[^}]*\}/g;
    const old = JSON.parse(text.replace(earlier, '"creating":{"count":3,"meanMs":5000}'));
    const [pool] = thaw(old).pools.values();
    const creating = { count: 3, usualMs: 5_000, recentMs: [5_000] };
    expect(pool?.clusters?.phases.creating).toEqual(creating);
  });
});

describe("a cluster", () => {
  test("is planned, made, lent, used, destroyed and removed", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    expect(lending.stock()).toBe("");
    expect(lending.outcome(acquire("a", "ocp"))).toMatchObject({ type: "waiting" });
    expect(lending.stock()).toBe("ocp-1 creating");
    expect(lending.work("creating", "free")).toBe("ocp-1");
    expect(lending.held("a")).toEqual(["ocp-1"]);
    expect(lending.stock()).toBe("ocp-1 busy");
    lending.do(release("a"));
    expect(lending.stock()).toBe("ocp-1 destroying");
    lending.work("destroying", "tombstone");
    expect(lending.stock()).toBe("");
    lending.do(acquire("b", "ocp"));
    expect(lending.stock()).toBe("ocp-2 creating");
  });

  test("is charged to its space until it is destroyed, and is no lease of it", () => {
    const space = "web" as SpaceName;
    const lending = new ClusterLending(clusterPool("ocp"));
    const leases = () => spaceView(lending.state, space).leases;
    lending.do(acquire("a", "ocp", { space }));
    lending.work("creating", "free");
    expect(leases()).toBe(1);
    lending.do(release("a"));
    expect(leases()).toBe(0);
    expect(spaceView(lending.state, space).holds).toMatchObject([{ held: 1 }]);
    lending.work("destroying", "tombstone");
    expect(spaceView(lending.state, space).holds).toEqual([]);
  });

  test("is told to its worker what is wanted, and what it learns is kept", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, running: 1 }));
    const id = lending.take("creating") as RequestId;
    const report = { handle: '{"infra":"x"}', message: "installing", progress: 0.5 };
    const told = lending.outcome({
      type: "cluster-report",
      ...{ id, resource: lending.resource("ocp-1").name, report },
    });
    expect(told).toEqual({ type: "reported", wanted: "ready" });
    expect(lending.cluster("ocp-1")).toMatchObject(report);
    lending.configure(clusterPool("ocp", { size: 0 }));
    expect(lending.stock()).toBe("ocp-1 creating");
    const again = lending.do({
      type: "cluster-report",
      ...{ id, resource: lending.resource("ocp-1").name, report },
    });
    expect(again.outcome).toEqual({ type: "reported", wanted: "destroyed" });
    expect(again.events).toEqual([{ type: "lease-renewed", id }]);
    lending.finish(id, { state: "free" });
    expect(lending.stock()).toBe("ocp-1 destroying");
  });

  test("keeps its phase after a failure, and is tried again later and later", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }));
    for (const restMs of [10_000, 20_000, 40_000]) {
      lending.finish(lending.take("creating") ?? "", { failure: "no capacity" });
      expect(lending.stock()).toBe("ocp-1 creating");
      expect(lending.take("creating")).toBeUndefined();
      lending.tickAt(lending.now + restMs - 1);
      expect(lending.take("creating")).toBeUndefined();
      lending.tickAt(lending.now + 1);
    }
    expect(lending.cluster("ocp-1").message).toBe("no capacity");
    lending.work("creating", "free");
    expect(lending.cluster("ocp-1").message).toBe("");
  });

  test("is broken when its time is over, whether a worker holds it or not", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, concurrent: 1 }));
    const id = lending.take("creating");
    lending.tickAt(minutes(60));
    expect(lending.end(id ?? "")).toBe("lifetime");
    expect(lending.stock()).toBe("ocp-1 broken, ocp-2 creating");
    const next = new ClusterLending(clusterPool("ocp", { size: 1, concurrent: 1 }));
    next.finish(next.take("creating") ?? "", { failure: "no capacity" });
    next.tickAt(minutes(60));
    expect(next.stock()).toBe("ocp-1 broken, ocp-2 creating");
  });

  test("can only be released in a state that its phase leads to", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }));
    const id = lending.take("creating") ?? "";
    for (const state of ["hibernated", "tombstone", "destroying", "dirty"]) {
      expect(lending.finish(id, { state })).toMatchObject({
        type: "refused",
        refusal: { code: "cluster_state", to: state, allowed: ["free", "broken"] },
      });
    }
  });

  test("survives a snapshot at every moment of its life", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }, { cost: 10 }));
    const isSame = () => {
      const frozen = JSON.parse(JSON.stringify(freeze(lending.state)));
      expect(JSON.parse(JSON.stringify(freeze(thaw(frozen))))).toEqual(frozen);
    };
    isSame();
    const id = lending.take("creating") ?? "";
    isSame();
    lending.finish(id, { state: "free" });
    isSame();
    lending.outcome(acquire("a", "ocp", { space: "team" as never }));
    lending.workAll();
    isSame();
    lending.do(release("a"));
    isSame();
  });
});
