/** What holders and operators see of clusters. The names are those of the conformance scenarios. */
import { describe, expect, test } from "vitest";
import { checkSnapshot } from "../../../sim/invariants.ts";
import { acquire, leave, operator, pool, release, renew, runTo } from "../decide/lending.suite.ts";
import type { ClaimId, RequestId, ResourceName, SpaceName } from "../model/ids.ts";
import type { SpacePolicy } from "../model/space.ts";
import { ClusterLending, clusterPool, minutes, operate } from "./clusters.suite.ts";

const hour = 3_600_000;

/** Two that are awake, the older one first. */
function twoReady(): ClusterLending {
  const lending = new ClusterLending(clusterPool("ocp", { size: 2, running: 2, max: 2 }));
  lending.workAll();
  return lending;
}

/** Two that are asleep. */
function twoAsleep(limits: object = {}): ClusterLending {
  const lending = new ClusterLending(clusterPool("ocp", { size: 2, running: 0, ...limits }));
  lending.workAll();
  expect(lending.states()).toEqual({ hibernated: 2 });
  return lending;
}

describe("a request for a cluster", () => {
  test("C1: the older cluster goes to the first request", () => {
    const lending = twoReady();
    lending.outcome(acquire("x", "ocp"), acquire("y", "ocp"));
    expect([lending.held("x"), lending.held("y")]).toEqual([["ocp-1"], ["ocp-2"]]);
  });

  test("C2: the oldest that sleeps is woken before it is lent", () => {
    const lending = twoAsleep({ max: 2 });
    lending.do(acquire("a", "ocp"));
    expect(lending.stock()).toBe("ocp-1 resuming, ocp-2 hibernated");
    expect(lending.held("a")).toBeUndefined();
    lending.work("resuming", "free");
    expect(lending.held("a")).toEqual(["ocp-1"]);
  });

  test("C3: one that does not wake in time is broken, and the next is waking already", () => {
    const lending = twoAsleep({ max: 2 });
    lending.do(acquire("a", "ocp", { ttlMs: hour }));
    lending.take("resuming");
    runTo(lending, minutes(7));
    expect(lending.stock()).toBe("ocp-1 resuming, ocp-2 hibernated");
    lending.tickAt(minutes(7.5));
    expect(lending.stock()).toBe("ocp-1 resuming, ocp-2 resuming");
    runTo(lending, minutes(15));
    expect(lending.state.requests.get("a" as RequestId)?.queuedAt).toBe(0);
    expect(lending.states()).toMatchObject({ resuming: 1, destroying: 1 });
    lending.work("resuming", "free");
    expect(lending.held("a")).toEqual(["ocp-2"]);
  });

  test("C4: the pool limits the lifetime, and the clock starts with the grant", () => {
    const lending = new ClusterLending(clusterPool("ocp", {}, { lifetimeMs: 4 * hour }));
    lending.do(acquire("a", "ocp", { lifetimeMs: 8 * hour }));
    lending.now = minutes(40);
    lending.work("creating", "free");
    const lease = lending.state.leases.get("a" as RequestId);
    expect(lease?.endsAt).toBe(minutes(40) + 4 * hour);
    lending.now = minutes(41);
    lending.do(renew("a"));
    expect(lease?.endsAt, "C5: heartbeats do not move it").toBe(minutes(40) + 4 * hour);
  });

  test.each([
    ["C6: at the end of its lifetime", { lifetimeMs: hour, ttlMs: 2 * hour }, "lifetime"],
    ["C14: without heartbeats", { ttlMs: hour }, "expired"],
  ])("%s the lease ends once, and the cluster is destroyed", (_, options, how) => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(acquire("a", "ocp", options));
    lending.workAll();
    runTo(lending, hour);
    lending.tickAt(hour);
    expect(lending.end("a")).toBe(how);
    expect(lending.stock()).toBe("ocp-1 destroying");
    expect(lending.events.filter(({ type }) => type === "lease-ended")).toHaveLength(2);
  });

  test("C7: a released cluster is never lent again", () => {
    const lending = twoReady();
    lending.outcome(acquire("a", "ocp"), release("a", { state: "free" }));
    expect(lending.states()).toEqual({ free: 1, destroying: 1 });
    lending.outcome(acquire("b", "ocp"), acquire("c", "ocp"));
    expect([lending.held("b"), lending.held("c")]).toEqual([["ocp-2"], undefined]);
    lending.workAll();
    expect(lending.held("c")).toEqual(["ocp-3"]);
  });

  test("C8: cancelled while its cluster wakes up: the cluster stays in the pool", () => {
    const lending = twoAsleep({ max: 2 });
    lending.outcome(acquire("a", "ocp"), leave("a"));
    expect(lending.line("ocp")).toEqual([]);
    lending.workAll();
    expect(lending.stock()).toBe("ocp-1 hibernated, ocp-2 hibernated");
  });

  test("C8: cancelled while its cluster is made: the cluster is not needed", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.outcome(acquire("a", "ocp"), leave("a"));
    expect(lending.stock()).toBe("ocp-1 destroying");
  });

  test("a lease that its client never received leaves the cluster unused", () => {
    const lending = twoReady();
    lending.do(acquire("a", "ocp"));
    lending.do({ type: "not-delivered", id: "a" as RequestId, repliesSent: 1 });
    expect(lending.states()).toEqual({ free: 2 });
  });

  test("C13: one that nobody polls for leaves, and takes no cluster with it", () => {
    const lending = new ClusterLending(clusterPool("ocp", { max: 0 }, { ttlMs: 60_000 }));
    expect(lending.outcome(acquire("a", "ocp"))).toMatchObject({ type: "waiting" });
    expect(lending.stock(), "P7: max 0 makes none").toBe("");
    runTo(lending, minutes(1));
    expect(lending.end("a")).toBe("abandoned");
  });

  test("C15: the same key twice is one request and one cluster", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    const key = { key: "k", holder: "job" };
    lending.outcome(acquire("a", "ocp", key), acquire("b", "ocp", key));
    expect(lending.stock()).toBe("ocp-1 creating");
  });

  test("C16: a request for three is not overtaken by later ones for one", () => {
    const lending = new ClusterLending(clusterPool("ocp", { max: 3 }));
    lending.do(acquire("big", "ocp:3"));
    for (const id of ["s1", "s2", "s3", "s4"]) lending.do(acquire(id, "ocp"));
    lending.workAll();
    expect(lending.held("big")).toHaveLength(3);
    expect(lending.line("ocp")).toEqual(["s1", "s2", "s3", "s4"]);
  });

  test("with its own parameters gets exactly these, and others never get its cluster", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, running: 1 }));
    lending.workAll();
    const item = { pool: "ocp" as never, count: 1, parameters: { version: "4.19" } };
    const ask = { holder: "job", items: [item] };
    lending.do({ type: "acquire", id: "old" as RequestId, ask, waitMs: 0 });
    expect(lending.stock()).toBe("ocp-1 free, ocp-2 creating");
    lending.outcome(acquire("usual", "ocp"), acquire("next", "ocp"));
    lending.workAll();
    expect(lending.held("old")).toEqual(["ocp-2"]);
    expect(lending.held("usual")).toEqual(["ocp-1"]);
    expect(lending.held("next")).toEqual(["ocp-3"]);
    expect(lending.cluster("ocp-2").parameters).toEqual({ version: "4.19" });
  });

  test("may combine it with other pools, all or nothing", () => {
    const lending = new ClusterLending(clusterPool("ocp"), pool("slot", 1));
    lending.outcome(acquire("s", "slot"), acquire("both", "ocp slot"));
    lending.workAll();
    expect(lending.held("both")).toBeUndefined();
    expect(lending.stock()).toBe("ocp-1 free");
    lending.do(release("s"));
    expect(lending.held("both")).toEqual(["ocp-1", "slot-1"]);
  });

  test.each([
    ["a name", { resource: "ocp-1" }, "lent_by_parameters"],
    ["labels", { selector: { region: "eu" } }, "lent_by_parameters"],
    ["a state", { state: "hibernated" }, "lent_by_parameters"],
    ["a phase as held state", { into: "creating" }, "lent_by_parameters"],
  ])("cannot choose one by %s", (_, more, code) => {
    const item = { pool: "ocp" as never, count: 1, ...more };
    const ask = { holder: "job", items: [item] };
    const command = { type: "acquire", id: "a" as RequestId, ask, waitMs: 0 } as const;
    expect(twoReady().outcome(command)).toMatchObject({ refusal: { code } });
  });
});

describe("a cluster that is lost", () => {
  const lost = { type: "cluster-lost", why: "the API server is gone" } as const;

  test("C11: its holder learns it, and may have another one, with a larger fence", () => {
    const lending = twoReady();
    lending.do(acquire("a", "ocp"));
    const fence = lending.state.leases.get("a" as RequestId)?.claims[0]?.fence ?? 0;
    const resource = "ocp-1" as ResourceName;
    const { instance } = lending.cluster("ocp-1");
    lending.do({ ...lost, resource, instance: "another" });
    expect(lending.cluster("ocp-1").lost).toBeNull();
    lending.do({ ...lost, resource, instance });
    expect(lending.cluster("ocp-1").lost).toBe("the API server is gone");
    expect(lending.held("a")).toEqual(["ocp-1"]);
    const replace = { type: "cluster-replace", claim: "1" as ClaimId } as const;
    lending.do({ ...replace, id: "a" as RequestId });
    expect(lending.held("a")).toEqual(["ocp-2"]);
    const [claim] = lending.state.leases.get("a" as RequestId)?.claims ?? [];
    expect(claim?.id).toBe("1");
    expect(claim?.fence).toBeGreaterThan(fence);
    expect(lending.resource("ocp-1").state).toBe("destroying");
  });

  test("the replacement waits in the queue as long as the lease lives", () => {
    const lending = new ClusterLending(clusterPool("ocp", { max: 1 }, { ttlMs: hour }));
    lending.do(acquire("a", "ocp"));
    lending.workAll();
    const replace = { type: "cluster-replace", claim: "1" as ClaimId } as const;
    lending.outcome({ ...replace, id: "a" as RequestId }, { ...replace, id: "a" as RequestId });
    expect(lending.line("ocp")).toHaveLength(1);
    for (let minute = 50; minute <= 200; minute += 50) {
      runTo(lending, minutes(minute));
      lending.do(renew("a"));
    }
    lending.workAll();
    expect(lending.held("a")).toEqual(["ocp-2"]);
    lending.do({ ...replace, id: "a" as RequestId });
    lending.do(release("a"));
    expect(lending.line("ocp")).toEqual([]);
    lending.workAll();
    expect(lending.stock()).toBe("");
  });

  test("nobody holds: it is broken and another is made", () => {
    const lending = twoReady();
    const { instance } = lending.cluster("ocp-1");
    lending.do({ ...lost, resource: "ocp-1" as ResourceName, instance });
    expect(lending.stock()).toBe("ocp-1 destroying, ocp-2 free");
    lending.workAll();
    expect(lending.stock()).toBe("ocp-2 free, ocp-3 free");
  });
});

describe("quotas", () => {
  const team = "team" as SpaceName;

  function withQuota(policy: Partial<SpacePolicy>, cost = 10): ClusterLending {
    const lending = new ClusterLending();
    configureWith(lending, policy, cost);
    return lending;
  }

  function configureWith(lending: ClusterLending, policy: Partial<SpacePolicy>, cost: number) {
    const spaces = [{ name: team, policy: { weight: 1, quotas: [], ...policy } }];
    const pools = [clusterPool("ocp", {}, { cost })];
    lending.do({
      type: "configure",
      pools,
      spaces: { spaces, others: { weight: 1, quotas: [] } },
    });
  }

  const ask = (id: string) => acquire(id, "ocp", { space: team });
  const one = { quotas: [{ pool: "ocp" as never, max: 1 }] };

  test("Q1: a quota of one, two requests at once: one cluster", () => {
    const lending = withQuota(one);
    lending.outcome(ask("a"), ask("b"));
    expect(lending.stock()).toBe("ocp-1 creating");
    lending.workAll();
    expect([lending.held("a"), lending.held("b")]).toEqual([["ocp-1"], undefined]);
    expect(lending.stock()).toBe("ocp-1 busy");
  });

  test("Q2: a budget of 50 at a cost of 10: five, and the sixth waits", () => {
    const lending = withQuota({ costMax: 50 });
    for (const id of ["a", "b", "c", "d", "e", "f"]) lending.do(ask(id));
    lending.workAll();
    expect(lending.states()).toEqual({ busy: 5 });
    expect(lending.line("ocp")).toEqual(["f"]);
  });

  test("a quota of one, and a request for two of either pool: two of the other pool", () => {
    const lending = new ClusterLending();
    const spaces = [{ name: team, policy: { weight: 1, ...one } }];
    const pools = [clusterPool("ocp"), clusterPool("rosa")];
    lending.do({
      type: "configure",
      pools,
      spaces: { spaces, others: { weight: 1, quotas: [] } },
    });
    lending.do(acquire("a", "ocp|rosa:2", { space: team }));
    expect([lending.stock(), lending.states("rosa")]).toEqual(["", { creating: 2 }]);
    for (let made = 0; made < 2; made++) lending.work("creating", "free", "rosa");
    expect(lending.held("a")).toEqual(["rosa-1", "rosa-2"]);
  });

  test("Q3: a cluster counts until its destruction is confirmed", () => {
    const lending = withQuota(one);
    lending.outcome(ask("a"), ask("b"));
    lending.workAll();
    lending.do(release("a"));
    expect(lending.stock()).toBe("ocp-1 destroying");
    lending.work("destroying", "tombstone");
    expect(lending.stock()).toBe("ocp-2 creating");
  });

  test("Q4: or until an operator abandons it, which is recorded", () => {
    const lending = withQuota(one);
    lending.outcome(ask("a"), ask("b"));
    lending.workAll();
    lending.do(release("a"));
    const { instance } = lending.cluster("ocp-1");
    const { events } = lending.do(operate("cluster-abandon", "ocp-1"));
    expect(events[0]).toMatchObject({ type: "cluster-abandoned", instance, reason: operator });
    expect(lending.stock()).toBe("ocp-2 creating");
  });

  test("an abandoned cluster of others makes the share of a space larger (seed 232)", () => {
    const lending = withQuota({ costMax: 50 });
    lending.outcome(ask("a"), acquire("x", "ocp", { space: "other" as SpaceName }));
    lending.workAll();
    lending.do(release("x"));
    expect(lending.state.spaces.get(team)?.share).toBe(0.5);
    lending.do(operate("cluster-abandon", "ocp-2"));
    expect(lending.stock()).toBe("ocp-1 busy");
    expect(lending.state.spaces.get(team)?.share).toBe(1);
    checkSnapshot(lending.state);
  });

  test("Q5: what is lent keeps its price, and what is lent next has the new one", () => {
    const lending = withQuota({ costMax: 100 });
    lending.do(ask("a"));
    lending.workAll();
    configureWith(lending, { costMax: 100 }, 40);
    expect(lending.state.spaces.get(team)?.cost).toBe(10);
    lending.do(ask("b"));
    lending.workAll();
    expect(lending.state.spaces.get(team)?.cost).toBe(50);
  });

  test("Q6: a space that may no longer use the pool keeps its cluster and its cost", () => {
    const lending = withQuota({ costMax: 100 });
    lending.do(ask("a"));
    lending.workAll();
    configureWith(lending, { costMax: 100, pools: ["other"] }, 10);
    expect(lending.state.spaces.get(team)?.cost).toBe(10);
    expect(lending.outcome(ask("b"))).toMatchObject({ refusal: { code: "pool_not_allowed" } });
    lending.do(release("a"));
    lending.workAll();
    expect(lending.state.spaces.has(team)).toBe(false);
  });

  test("Q7: a space that nobody has configured gets nothing, and nothing is made for it", () => {
    const lending = new ClusterLending();
    const spaces = [{ name: team, policy: { weight: 1, quotas: [] } }];
    const pools = [clusterPool("ocp"), pool("aws", 1)];
    lending.do({ type: "configure", pools, spaces: { spaces, others: null } });
    for (const wanted of ["ocp", "aws", "ocp aws"]) {
      const stranger = acquire(`s-${wanted}`, wanted, { space: "stranger" as SpaceName });
      expect(lending.outcome(stranger)).toMatchObject({ refusal: { code: "space_unknown" } });
    }
    expect(lending.stock()).toBe("");
    expect(lending.outcome(ask("a"))).toMatchObject({ type: "waiting" });
    expect(lending.stock()).toBe("ocp-1 creating");
  });

  test("Q8: the lifetime of one space is not that of another", () => {
    const lending = new ClusterLending();
    const other = "other" as SpaceName;
    const spaces = [
      { name: team, policy: { weight: 1, quotas: [], lifetimeMs: 8 * hour } },
      { name: other, policy: { weight: 1, quotas: [], lifetimeMs: hour } },
    ];
    const pools = [clusterPool("ocp", {}, { ttlMs: 24 * hour })];
    lending.do({ type: "configure", pools, spaces: { spaces, others: null } });
    lending.do(acquire("theirs", "ocp", { space: other, lifetimeMs: 12 * hour }));
    lending.do(ask("mine"));
    lending.workAll();
    const endOf = (id: string) => lending.state.leases.get(id as RequestId)?.endsAt;
    expect([endOf("theirs"), endOf("mine")]).toEqual([hour, 8 * hour]);
    runTo(lending, hour);
    expect([lending.end("theirs"), lending.end("mine")]).toEqual(["lifetime", undefined]);
  });

  test("B4: a cluster of a space's own account uses nothing of the shared one, and is charged", () => {
    const lending = new ClusterLending(
      pool("account", 0, { limit: 1 }),
      clusterPool("shared", { size: 1 }, { parent: "account" as never }),
      clusterPool("byo", {}, { cost: 10 }),
    );
    const parameters = { version: "4.20", credentials: "team/aws#1" };
    const items = [{ pool: "byo" as never, count: 1, parameters }];
    const details = { holder: "job", items, space: team, ttlMs: 3_600_000 };
    lending.do({ type: "acquire", id: "a" as RequestId, ask: details, waitMs: 0 });
    expect(lending.states("byo"), "the shared account is full").toEqual({ creating: 1 });
    lending.workAll("byo");
    expect(lending.states("byo")).toEqual({ busy: 1 });
    expect(lending.poolNamed("account").used).toBe(1);
    expect(lending.state.spaces.get(team)?.cost).toBe(10);
  });

  test("Q9: two pools share an account: together they never have more than it allows", () => {
    const below = { parent: "account" as never };
    const lending = new ClusterLending(
      pool("account", 0, { limit: 3 }),
      clusterPool("ocp", { size: 2 }, below),
      clusterPool("rosa", { size: 2 }, below),
    );
    expect(lending.poolNamed("account").used).toBe(3);
    expect(lending.stock("rosa")).toBe("rosa-3 creating");
    lending.outcome(acquire("a", "rosa"), acquire("b", "rosa"));
    expect(lending.poolNamed("account").used).toBe(3);
    lending.workAll();
    lending.do(operate("cluster-destroy", "ocp-1"));
    lending.work("destroying", "tombstone");
    expect(lending.stock("rosa"), "requests go before the stock").toBe(
      "rosa-3 creating, rosa-4 creating",
    );
  });
});

describe("a driver that fails", () => {
  test("H1: woken while it is being stopped, it ends awake", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, max: 1 }));
    lending.work("creating", "free");
    const id = lending.take("stopping") as RequestId;
    lending.do(acquire("a", "ocp"));
    const resource = "ocp-1" as ResourceName;
    const told = lending.outcome({ type: "cluster-report", id, resource, report: {} });
    expect(told).toEqual({ type: "reported", wanted: "ready" });
    lending.finish(id, {});
    expect(lending.stock()).toBe("ocp-1 resuming");
    lending.work("resuming", "free");
    expect(lending.held("a")).toEqual(["ocp-1"]);
  });

  test("H3: a lent cluster never sleeps: heartbeats keep it awake, and without them it is destroyed", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, max: 1 }));
    lending.workAll();
    lending.do(acquire("a", "ocp", { ttlMs: hour }));
    lending.workAll();
    expect(lending.stock()).toBe("ocp-1 busy");
    for (let half = 1; half <= 96; half += 1) {
      lending.tickAt(half * (hour / 2));
      lending.do({ type: "renew", id: "a" as RequestId });
      expect(lending.plan()).toEqual([]);
      expect(lending.take("stopping")).toBeUndefined();
    }
    expect(lending.held("a")).toEqual(["ocp-1"]);
    expect(lending.events.filter(({ type }) => type === "cluster-wanted")).toEqual([]);
    runTo(lending, 50 * hour);
    expect(lending.stock()).toBe("ocp-1 destroying");
  });

  test("H4: time alone puts no cluster of the stock to sleep: only the plan does", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 3, running: 2 }));
    lending.workAll();
    const before = lending.stock();
    expect(lending.states()).toEqual({ free: 2, hibernated: 1 });
    for (let hours = 1; hours <= 48; hours += 1) lending.tickAt(hours * hour);
    expect(lending.stock()).toBe(before);
    lending.do({ type: "configure", pools: [clusterPool("ocp", { size: 3, running: 0 })] });
    lending.workAll();
    expect(lending.states()).toEqual({ hibernated: 3 });
  });

  test("H5: it is tried again with growing pauses, then the cluster is broken", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, max: 1 }));
    lending.workAll();
    lending.do(acquire("a", "ocp", { ttlMs: hour }));
    let attempts = 0;
    for (let due = 0; due < minutes(16); due += 10_000) {
      const id = lending.take("resuming");
      if (id !== undefined) {
        attempts += 1;
        lending.finish(id, { failure: "no capacity in the zone" });
      }
      runTo(lending, due);
    }
    expect(attempts).toBeGreaterThan(4);
    expect(attempts).toBeLessThan(10);
    expect(lending.events).toContainEqual(
      expect.objectContaining({ type: "cluster-moved", state: "broken" }),
    );
    lending.workAll();
    expect(lending.held("a")).toBeDefined();
  });

  test("a destruction that takes too long is stuck, and goes on", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(acquire("a", "ocp"));
    lending.workAll();
    lending.do(release("a"));
    lending.take("destroying");
    runTo(lending, hour);
    expect(lending.stock()).toBe("ocp-1 destroying");
    expect(lending.cluster("ocp-1").stuck).toEqual([]);
    const id = lending.take("destroying") as RequestId;
    const resource = "ocp-1" as ResourceName;
    const report = { stuck: ["volume vol-1 is attached"] };
    lending.do({ type: "cluster-report", id, resource, report });
    expect(lending.cluster("ocp-1").stuck).toEqual(["volume vol-1 is attached"]);
    lending.finish(id, { state: "tombstone" });
    expect(lending.stock()).toBe("");
  });
});

describe("an operator", () => {
  test("keeps a broken cluster for debugging, and it is destroyed afterwards", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, max: 3 }));
    const id = lending.take("creating") ?? "";
    lending.do(operate("cluster-hold", "ocp-1", hour));
    lending.finish(id, { state: "broken", failure: "the installer failed" });
    lending.workAll();
    expect(lending.stock()).toBe("ocp-1 broken, ocp-2 hibernated");
    runTo(lending, hour);
    expect(lending.stock()).toBe("ocp-1 destroying, ocp-2 hibernated");
  });

  test("keeps a cluster that is ready: it is not lent, and the pool makes another", () => {
    const lending = twoReady();
    lending.configure(clusterPool("ocp", { size: 2, running: 2, max: 3 }));
    lending.do(operate("cluster-hold", "ocp-1"));
    expect(lending.stock()).toBe("ocp-1 used, ocp-2 free, ocp-3 creating");
    lending.do(operate("cluster-unhold", "ocp-1"));
    expect(lending.resource("ocp-1").state).toBe("destroying");
    expect(lending.outcome(operate("cluster-hold", "ocp-1"))).toMatchObject({
      refusal: { code: "cluster_state", action: "hold" },
    });
  });

  test("keeps a cluster that is lent: its space is charged until it is destroyed", () => {
    const lending = new ClusterLending(clusterPool("ocp", {}, { cost: 7 }));
    lending.do(acquire("a", "ocp", { space: "team" as SpaceName }));
    lending.workAll();
    lending.outcome(operate("cluster-hold", "ocp-1"), release("a"));
    expect(lending.stock()).toBe("ocp-1 used");
    expect(lending.state.spaces.get("team" as SpaceName)?.cost).toBe(7);
    lending.do(operate("cluster-unhold", "ocp-1"));
    lending.workAll();
    expect(lending.state.spaces.has("team" as SpaceName)).toBe(false);
  });

  test("cannot destroy or abandon what is lent, nor change a state by hand", () => {
    const lending = twoReady();
    lending.do(acquire("a", "ocp"));
    for (const type of ["cluster-destroy", "cluster-abandon"] as const) {
      const told = lending.outcome(operate(type, "ocp-1"));
      expect(told).toMatchObject({ refusal: { code: "cluster_state", state: "busy" } });
    }
    const change = {
      type: "change-resource",
      change: { state: "free" },
      reason: operator,
    } as const;
    expect(lending.outcome({ ...change, resource: "ocp-2" as ResourceName })).toMatchObject({
      refusal: { code: "state_reserved" },
    });
    expect(lending.outcome(operate("cluster-destroy", "nothing"))).toMatchObject({
      refusal: { code: "resource_not_found" },
    });
  });

  test("adopts a cluster: a worker looks at it before it is lent, and limits hold", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, running: 1, max: 1 }));
    lending.do(operate("cluster-abandon", "ocp-1"));
    const adopt = {
      type: "cluster-adopt",
      ...{ pool: "ocp" as never, instance: "ocp-1.x", handle: "{}", reason: operator },
    } as const;
    const full = { refusal: { code: "cluster_limit", used: 1, limit: 1 } };
    expect(lending.outcome({ ...adopt, resource: "lost-1" as ResourceName })).toMatchObject(full);
    lending.configure(clusterPool("ocp", { size: 2, running: 2, max: 2 }));
    lending.do(operate("cluster-abandon", "ocp-2"));
    lending.configure(clusterPool("ocp", { size: 1, running: 1, max: 3 }));
    lending.do({ ...adopt, resource: "lost-1" as ResourceName, revision: "r1" });
    expect(lending.resource("lost-1").state).toBe("resuming");
    expect(lending.outcome({ ...adopt, resource: "lost-1" as ResourceName })).toMatchObject({
      refusal: { code: "cluster_exists" },
    });
  });
});

test("a cluster that the plan would destroy is not adopted, and one of no revision is not outdated", () => {
  const pool = (size: number) => clusterPool("ocp", { size, running: size, max: 9 });
  const lending = new ClusterLending(pool(2));
  lending.workAll();
  const adopt = {
    type: "cluster-adopt",
    ...{ pool: "ocp" as never, resource: "mine" as ResourceName, instance: "mine.1" },
    reason: operator,
  } as const;
  const surplus = { code: "cluster_surplus", pool: "ocp", size: 2 };
  expect(lending.outcome(adopt)).toEqual({ type: "refused", refusal: surplus });
  expect(lending.stock()).toBe("ocp-1 free, ocp-2 free");
  lending.do(acquire("a", "ocp"));
  lending.do(operate("cluster-destroy", "ocp-3"));
  lending.do(adopt);
  lending.workAll();
  expect(lending.stock()).toContain("mine free");
});

describe("a pool of clusters", () => {
  test("P13: that is removed stays until the last cluster is gone; what is lent stays", () => {
    const lending = twoReady();
    lending.do(acquire("a", "ocp"));
    lending.configure();
    expect(lending.stock()).toBe("ocp-1 busy, ocp-2 destroying");
    lending.workAll();
    expect(lending.stock()).toBe("ocp-1 busy");
    lending.do(release("a"));
    lending.workAll();
    expect(lending.state.pools.size).toBe(0);
  });

  test("P8: whose template has changed replaces one after the other, and still lends the old", () => {
    const lending = twoReady();
    lending.configure(clusterPool("ocp", { size: 2, running: 2, max: 3, revision: "r2" }));
    expect(lending.stock()).toBe("ocp-1 destroying, ocp-2 free, ocp-3 creating");
    lending.do(acquire("a", "ocp"));
    expect(lending.held("a")).toEqual(["ocp-2"]);
    lending.do(release("a"));
    lending.workAll();
    const revisions = ["ocp-3", "ocp-4"].map((name) => lending.cluster(name).revision);
    expect([lending.states(), revisions]).toEqual([{ free: 2 }, ["r2", "r2"]]);
  });

  test("that has no template any longer destroys its clusters and lends what is listed", () => {
    const lending = twoReady();
    lending.configure(pool("ocp", ["ocp-9"]));
    expect(lending.stock()).toBe("ocp-1 destroying, ocp-2 destroying");
    lending.do(acquire("a", "ocp"));
    expect(lending.held("a")).toEqual(["ocp-9"]);
    lending.workAll();
    expect(lending.poolNamed().clusters).toBeNull();
  });

  test("with running: auto keeps as many awake as arrive while one wakes up", () => {
    const policy = { size: 6, running: "auto", max: 30 } as const;
    const lending = new ClusterLending(clusterPool("ocp", policy));
    lending.workAll();
    expect(lending.states()).toEqual({ hibernated: 6 });
    for (let index = 1; index <= 12; index++) {
      runTo(lending, minutes(index * 4));
      lending.do(acquire(`a${index}`, "ocp"));
      if (lending.held(`a${index}`) === undefined) {
        lending.now = minutes(index * 4 + 3);
        lending.workAll();
      }
      lending.do(release(`a${index}`));
      lending.now = minutes(index * 4 + 3.5);
      lending.workAll();
    }
    // 12 arrivals in the last hour, and a resume takes some minutes.
    const { resuming } = lending.poolNamed().clusters?.phases ?? {};
    const awake = Math.ceil((12 * (resuming?.usualMs ?? 0)) / hour);
    expect(awake).toBeGreaterThan(0);
    expect(lending.states()).toEqual({ free: awake, hibernated: 6 - awake });
    runTo(lending, minutes(48 + 61));
    lending.workAll();
    expect(lending.states()).toEqual({ hibernated: 6 });
  });
});

describe("requests go before the stock", () => {
  const below = { parent: "account" as never };

  test("of their own pool: a cluster of the stock is given up for other parameters", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 2, running: 2, max: 2 }));
    lending.workAll();
    const item = { pool: "ocp" as never, count: 1, parameters: { version: "4.19" } };
    const ask = { holder: "job", items: [item] };
    lending.do({ type: "acquire", id: "old" as RequestId, ask, waitMs: 0 });
    expect(lending.stock()).toBe("ocp-1 destroying, ocp-2 free");
    lending.workAll();
    expect(lending.held("old")).toEqual(["ocp-3"]);
    expect(lending.stock()).toBe("ocp-2 free, ocp-3 busy");
  });

  test("of other pools below the same limit", () => {
    const lending = new ClusterLending(
      pool("account", 0, { limit: 2 }),
      clusterPool("ocp", { size: 2 }, below),
      clusterPool("rosa", {}, below),
    );
    lending.workAll();
    lending.do(acquire("a", "rosa"));
    expect(lending.states()).toEqual({ destroying: 1, hibernated: 1 });
    lending.workAll();
    lending.workAll("rosa");
    expect(lending.held("a")).toHaveLength(1);
    lending.do(release("a"));
    lending.workAll("rosa");
    expect(lending.poolNamed("account").used).toBe(2);
  });

  test("and two requests for two never keep one each", () => {
    const lending = new ClusterLending(
      pool("account", 0, { limit: 2 }),
      clusterPool("ocp", {}, below),
      clusterPool("rosa", {}, below),
    );
    lending.outcome(acquire("a", "ocp:2"), acquire("b", "rosa:2"));
    expect([lending.stock(), lending.stock("rosa")]).toEqual([
      "ocp-1 creating, ocp-2 creating",
      "",
    ]);
    lending.workAll();
    lending.do(release("a"));
    lending.workAll();
    lending.workAll("rosa");
    expect(lending.held("b")).toHaveLength(2);
  });
});

describe("what is easily forgotten", () => {
  test("a cluster that an operator keeps while it is made is not lent when it is ready", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1, max: 1 }));
    const id = lending.take("creating") ?? "";
    lending.outcome(operate("cluster-hold", "ocp-1"), acquire("a", "ocp"));
    lending.finish(id, { state: "free" });
    expect([lending.stock(), lending.held("a")]).toEqual(["ocp-1 used", undefined]);
  });

  test("a space is not charged for a cluster whose lease it never received", () => {
    const lending = new ClusterLending(
      clusterPool("ocp", { size: 1, running: 1 }, { cost: 7 }),
      pool("slot", 1),
    );
    lending.workAll();
    const team = "team" as SpaceName;
    lending.outcome(acquire("s", "slot", { space: team }), acquire("a", "ocp", { space: team }));
    expect(lending.state.spaces.get(team)?.cost).toBe(7);
    lending.do({ type: "not-delivered", id: "a" as RequestId, repliesSent: 1 });
    expect(lending.state.spaces.get(team)?.cost).toBe(0);
  });

  test("after the first failure to wake a cluster the next one is woken beside it", () => {
    const lending = twoAsleep({ max: 2 });
    lending.do(acquire("a", "ocp"));
    lending.finish(lending.take("resuming") ?? "", { failure: "no capacity" });
    expect(lending.stock()).toBe("ocp-1 resuming, ocp-2 resuming");
  });
});
