import { describe, expect, test } from "vitest";
import { freeze, thaw } from "../apply/snapshot.ts";
import { ClusterLending, clusterPool, minutes } from "../clusters/clusters.suite.ts";
import type { Command } from "../model/command.ts";
import type { PoolName, ResourceName } from "../model/ids.ts";
import { orphansMax } from "../model/orphan.ts";
import { operator } from "./lending.suite.ts";

const at = "2030-01-01T00:00:00Z";

function found(instances: readonly string[], credentials: string | null = null): Command {
  const clusters = instances.map((instance) => ({
    name: `b-${instance}`,
    instance,
    createdAt: at,
  }));
  return { type: "clusters-found", template: "ocp-aws", credentials, found: clusters };
}

function known({ state }: ClusterLending): string[] {
  return [...state.orphanClusters.values()].map(({ instance, seenAt }) => `${instance} ${seenAt}`);
}

describe("clusters that a search has found", () => {
  test("D4: are orphans unless they are in the books, since when they were first found", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 1 }));
    const { instance } = lending.cluster("ocp-1");
    lending.do(found([instance, "old.1"]));
    lending.now = minutes(5);
    expect(lending.outcome(found([instance, "old.1", "old.2"]))).toMatchObject({
      type: "orphans",
      orphans: [
        { instance: "old.1", name: "b-old.1", template: "ocp-aws", seenAt: 0 },
        { instance: "old.2", seenAt: minutes(5) },
      ],
    });
    const { events } = lending.do(found([instance, "old.1", "old.2"]));
    expect(events).toEqual([]);
  });

  test("stay in a snapshot, so that a restart begins no new grace period", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.now = minutes(3);
    lending.do(found(["old.1"]));
    const thawed = thaw(JSON.parse(JSON.stringify(freeze(lending.state))));
    expect([...thawed.orphanClusters]).toEqual([...lending.state.orphanClusters]);
  });

  test("are gone when the same search does not find them, and not when another does not", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(found(["shared.1", "shared.2"]));
    lending.do(found(["own.1"], "team/aws#1"));
    lending.do(found(["shared.2"]));
    expect(known(lending)).toEqual(["shared.2 0", "own.1 0"]);
    lending.do(found([], "team/aws#1"));
    expect(known(lending)).toEqual(["shared.2 0"]);
  });

  test("are known once they are adopted", () => {
    const lending = new ClusterLending(clusterPool("ocp", { size: 9, concurrent: 1 }));
    lending.do(found(["old.1"]));
    const what = { pool: "ocp" as PoolName, resource: "ocp-old" as ResourceName };
    const adopt = { type: "cluster-adopt", ...what, instance: "old.1", reason: operator } as const;
    expect(lending.outcome(adopt)).toEqual({ type: "done" });
    expect(known(lending)).toEqual([]);
  });

  test("are remembered up to a bound", () => {
    const lending = new ClusterLending(clusterPool("ocp"));
    lending.do(found(Array.from({ length: orphansMax + 500 }, (_, index) => `old.${index}`)));
    expect(lending.state.orphanClusters.size).toBe(orphansMax);
  });
});
