import { describe, expect, test } from "vitest";
import { ClusterLending, clusterPool, minutes, operate } from "../clusters/clusters.suite.ts";
import { acquire, pool, release } from "../decide/lending.suite.ts";
import type { RequestId, SpaceName } from "../model/ids.ts";
import { explainNeeds, waitReason } from "./explain.ts";
import { clusterPlanView, nextSteps, underWay } from "./next-steps.ts";

function reason(lending: ClusterLending, id: string): string {
  const request = lending.state.requests.get(id as RequestId);
  if (request === undefined) throw new Error(`${id} does not wait`);
  const { code, message } = waitReason(request, lending.now);
  return `${code}: ${message}`;
}

/** One asleep, whose creation took 40 minutes, and whose last resume took 5. */
function experienced(more: object = {}): ClusterLending {
  const lending = new ClusterLending(clusterPool("ocp", { size: 1, running: 1, ...more }));
  lending.now = minutes(40);
  lending.workAll();
  lending.configure(clusterPool("ocp", { size: 1, ...more }));
  lending.workAll();
  lending.configure(clusterPool("ocp", { size: 1, running: 1, ...more }));
  lending.now = minutes(45);
  lending.workAll();
  lending.configure(clusterPool("ocp", { size: 1, ...more }));
  lending.workAll();
  expect(lending.stock()).toBe("ocp-1 hibernated");
  return lending;
}

describe("waitReason() for a cluster", () => {
  test("names the one that is woken, and how long that takes", () => {
    const lending = experienced({ max: 1 });
    lending.do(acquire("a", "ocp"));
    expect(reason(lending, "a")).toBe(
      "cluster_resuming: Resuming ocp-1, which waits for a worker; next in line",
    );
    lending.take("resuming");
    lending.now = minutes(48);
    expect(reason(lending, "a")).toBe(
      "cluster_resuming: Resuming ocp-1 for 3m, usually takes 5m; next in line",
    );
  });

  test("names the one that is created for it, behind those of the requests ahead", () => {
    const lending = experienced();
    lending.outcome(acquire("a", "ocp"), acquire("b", "ocp"));
    lending.take("resuming");
    lending.take("creating");
    lending.now = minutes(50);
    expect(reason(lending, "b")).toBe(
      "cluster_creating: Creating ocp-2 for 5m, usually takes 40m; 1 ahead",
    );
  });

  test("says without experience for how long, and how often it failed", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(acquire("a", "ocp"));
    const id = lending.take("creating") ?? "";
    lending.now = minutes(2);
    expect(reason(lending, "a")).toBe("cluster_creating: Creating ocp-1 for 2m; next in line");
    lending.finish(id, { failure: "no capacity" });
    expect(reason(lending, "a")).toBe(
      "cluster_creating: Creating ocp-1, failed once: no capacity; next in line",
    );
  });

  test.each([
    ["P7: max 0", { max: 0 }, "ocp makes no clusters now (max: 0)"],
    ["max", { max: 1 }, "ocp has 1 of at most 1 clusters"],
    ["P3: concurrent", { concurrent: 1 }, "1 of at most 1 clusters of ocp are being created"],
  ])("says which limit is in the way: %s", (_, policy, text) => {
    const lending = new ClusterLending(clusterPool("ocp", policy));
    lending.outcome(acquire("a", "ocp"), acquire("b", "ocp"));
    expect(reason(lending, "b")).toContain(`cluster_limit: ${text}`);
  });

  test("says that the account is full", () => {
    const below = { parent: "account" as never };
    const lending = new ClusterLending(
      pool("account", 0, { limit: 1 }),
      clusterPool("ocp", {}, below),
    );
    lending.outcome(acquire("a", "ocp"), acquire("b", "ocp"));
    expect(reason(lending, "b")).toContain("cluster_limit: account limit reached (1/1)");
  });

  test("says that its quota is used up", () => {
    const lending = new ClusterLending();
    const team = "team" as SpaceName;
    const policy = { weight: 1, quotas: [{ pool: "ocp" as never, max: 1 }] };
    const others = { weight: 1, quotas: [] };
    const spaces = { spaces: [{ name: team, policy }], others };
    lending.do({ type: "configure", pools: [clusterPool("ocp")], spaces });
    lending.outcome(acquire("a", "ocp", { space: team }), acquire("b", "ocp", { space: team }));
    lending.workAll();
    expect(reason(lending, "b")).toContain("quota_reached: team holds 1 of its quota of 1 ocp");
  });

  test("the grant records what it waited for", () => {
    const lending = experienced({ max: 2 });
    lending.outcome(acquire("a", "ocp"), acquire("b", "ocp"));
    lending.now = minutes(50);
    lending.workAll();
    const codes = lending.events.flatMap((event) => {
      return event.type === "lease-granted" && !event.id.startsWith("work") ? event.waitedFor : [];
    });
    expect(codes.sort()).toEqual(["cluster_creating", "cluster_resuming"]);
  });

  test("explain names the parameters", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(acquire("a", "ocp"));
    const request = lending.state.requests.get("a" as RequestId);
    const [need] = request === undefined ? [] : explainNeeds(request, lending.now);
    expect(need).toMatchObject({ selects: "version=4.20", states: { creating: 1 }, free: 0 });
  });
});

describe("nextSteps()", () => {
  test("says what is done, what waits, and why", () => {
    const lending = experienced();
    lending.configure(clusterPool("ocp", { size: 2, max: 2, concurrent: 1 }));
    lending.do(acquire("a", "ocp"));
    lending.take("resuming");
    lending.now = minutes(48);
    expect(underWay(lending.poolNamed(), lending.now)).toEqual([
      "resuming ocp-1 for 3m, usually takes 5m",
      "creating ocp-2, which waits for a worker",
    ]);
    expect(nextSteps(lending.poolNamed(), lending.now)).toEqual([
      "creates 1 more later: ocp has 2 of at most 2 clusters",
    ]);
  });

  test("says what is destroyed later, what is outdated, kept, stuck and lost", () => {
    const policy = { size: 2, running: 2, concurrent: 1 };
    const lending = new ClusterLending(clusterPool("ocp", policy));
    lending.workAll();
    lending.outcome(acquire("a", "ocp"), acquire("b", "ocp"));
    lending.outcome(release("a"), operate("cluster-hold", "ocp-2"));
    const { instance } = lending.cluster("ocp-2");
    lending.do({ type: "cluster-lost", resource: "ocp-2" as never, instance, why: "gone" });
    expect(underWay(lending.poolNamed(), lending.now)).toEqual([
      "creating ocp-3, which waits for a worker",
      "ocp-2 is lost: gone",
      "keeps ocp-2 for ann for 1h: test",
    ]);
    expect(nextSteps(lending.poolNamed(), lending.now)).toEqual([
      "creates 1 more later: 1 of at most 1 clusters of ocp are being created or destroyed",
      "destroys 1 cluster later: 1 of at most 1 clusters of ocp are being created or destroyed",
    ]);
    lending.configure(clusterPool("ocp", { ...policy, revision: "r2" }));
    expect(clusterPlanView(lending.poolNamed(), lending.now)).toMatchObject({ stale: 1, size: 2 });
    expect(clusterPlanView(lending.poolNamed(), lending.now)?.nextSteps).toContain(
      "replaces 1 outdated cluster, one at a time",
    );
  });
});
