/** A plan that never ends is contained: only its pool is suspended. */
import { describe, expect, test } from "vitest";
import { planClusters } from "../decide/clusters.ts";
import { acquire, pool } from "../decide/lending.suite.ts";
import { newTurn } from "../decide/turn.ts";
import type { PoolName } from "../model/ids.ts";
import { ClusterLending, clusterPool } from "./clusters.suite.ts";
import { planPool } from "./plan.ts";
import { snapshotOf } from "./snapshot.ts";

describe("a plan that contradicts itself", () => {
  test("throws: what is made for a request is surplus at once", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }));
    const snapshot = snapshotOf(lending.poolNamed(), lending.now);
    const contradiction = {
      ...snapshot,
      demand: new Map([[snapshot.stock, 1]]),
      accepted: new Map(),
    };
    expect(() => planPool(contradiction)).toThrow("the plan of its clusters contradicts itself");
  });

  test("throws when each plan is undone by what follows it", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }));
    const turn = newTurn(lending.state, lending.now);
    const planAgain = () => {
      for (let time = 0; time < 1_000; time++) {
        turn.events.push({ type: "deadline-postponed", until: lending.now });
        planClusters(turn, lending.poolNamed());
      }
    };
    expect(planAgain).toThrow("the plan of its clusters does not come to an end");
  });

  test("names its own pool, not the pool that it was planned with", () => {
    const below = { parent: "account" as PoolName };
    const poisoned = { size: 1, running: "auto", limits: undefined as never } as const;
    const pools = [
      pool("account", 0, { limit: 9 }),
      clusterPool("good", { size: 1 }, below),
      clusterPool("bad", poisoned, below),
    ];
    const culprit = { culprit: { pools: ["bad"] } };
    expect(() => new ClusterLending(...pools)).toThrow(expect.objectContaining(culprit));
  });
});

describe("a suspended pool of clusters", () => {
  const suspend = (...pools: readonly string[]) =>
    ({ type: "set-aside", pools: pools as PoolName[], why: "a bug" }) as const;

  test("is left alone, and a request for it waits", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }), clusterPool("kind"));
    lending.do(suspend("ocp"));
    expect(lending.outcome(acquire("a", "ocp"))).toMatchObject({
      type: "waiting",
      request: { reason: { code: "suspended" } },
    });
    expect(lending.stock()).toBe("ocp-1 creating");
    lending.do(acquire("b", "kind"));
    expect(lending.stock("kind")).toBe("kind-2 creating");
  });
});
