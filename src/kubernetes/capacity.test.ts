import { describe, expect, test } from "vitest";
import { analyse, type CapacityFacts, type CapacityRequirements } from "./capacity.ts";
import type { NodeObject, Taint } from "./nodes.ts";
import type { PodObject } from "./pod-requests.ts";

const gib = 2 ** 30;
const node = (name: string, change: Partial<NodeObject> = {}): NodeObject => ({
  metadata: { name, labels: { "node-role.kubernetes.io/worker": "" } },
  status: {
    allocatable: { cpu: "4", memory: "16Gi" },
    conditions: [{ type: "Ready", status: "True" }],
  },
  ...change,
});
const tainted = (name: string, taint: Taint) => node(name, { spec: { taints: [taint] } });
const master = (name: string): NodeObject =>
  node(name, { metadata: { name, labels: { "node-role.kubernetes.io/master": "" } } });

const pod = (cpu: string, nodeName?: string, phase = "Running"): PodObject => ({
  metadata: { name: "pod" },
  spec: {
    containers: [{ resources: { requests: { cpu, memory: "1Gi" } } }],
    ...(nodeName === undefined ? undefined : { nodeName }),
  },
  status: { phase },
});

const empty: CapacityFacts = {
  nodes: [node("w1"), node("w2")],
  pods: [],
  autoscalers: [],
  clusters: 0,
  quotas: [],
};
const requirements: CapacityRequirements = {
  need: { cpu: 3, memory: 12 * gib },
  margin: 1,
  share: 1,
  clustersMax: 6,
  tolerations: [],
};
const given = (facts: Partial<CapacityFacts>, change: Partial<CapacityRequirements> = {}) =>
  analyse({ ...empty, ...facts }, { ...requirements, ...change });

describe("analyse()", () => {
  test("subtracts the requests from the allocatable capacity", () => {
    expect(given({ pods: [pod("1500m", "w1")] })).toMatchObject({
      enough: true,
      allocatable: { cpu: 8, memory: 32 * gib },
      requested: { cpu: 1.5, memory: gib },
      remaining: { cpu: 6.5, memory: 31 * gib },
    });
  });

  test("counts the nodes that the autoscaler may add, once", () => {
    const scaled = given({
      autoscalers: [{ spec: { maxReplicas: 2 } }, { spec: { maxReplicas: 3 } }],
    });
    expect(scaled.workers).toEqual({ now: 2, max: 5 });
    expect(scaled.headroom).toEqual({ cpu: 12, memory: 48 * gib });
    expect(scaled.remaining.cpu).toBe(20);
  });

  test("uses the number of existing nodes if the limit of the autoscaler is lower", () => {
    expect(given({ autoscalers: [{ spec: { maxReplicas: 1 } }] }).headroom.cpu).toBe(0);
  });

  const filled = Array.from({ length: 6 }, () => pod("1", "w1"));
  const refused: Record<string, [Partial<CapacityFacts>, Partial<CapacityRequirements>, RegExp]> = {
    "ignores an overcommit above 1": [{ pods: filled }, { share: 1.5 }, /CPU/],
    "counts pending pods": [
      { pods: Array.from({ length: 6 }, () => pod("1", undefined, "Pending")) },
      {},
      /CPU/,
    ],
    "excludes control-plane nodes": [
      { nodes: [node("w1"), master("m1"), master("m2")] },
      { margin: 2 },
      /CPU/,
    ],
    "excludes cordoned nodes": [
      { nodes: [node("w1", { spec: { unschedulable: true } })] },
      {},
      /no worker/,
    ],
    "excludes nodes that are not ready": [
      { nodes: [node("w1", { status: { conditions: [{ type: "Ready", status: "Unknown" }] } })] },
      {},
      /no worker/,
    ],
    "excludes nodes with a taint that is not tolerated": [
      { nodes: [tainted("w1", { key: "gpu", value: "yes", effect: "NoSchedule" })] },
      {},
      /no worker/,
    ],
    "multiplies the need by the margin": [{}, { margin: 3 }, /CPU.*memory/],
    "respects the limit of clusters, whatever the capacity": [
      { clusters: 6 },
      {},
      /6 clusters, and 6 is the limit/,
    ],
    "respects the quota": [
      { quotas: [{ name: "limit", hard: 4, used: 4 }] },
      {},
      /quota limit is used up: 4 of 4/,
    ],
    "checks the memory too": [{}, { need: { cpu: 1, memory: 33 * gib } }, /memory/],
  };
  test.each(Object.entries(refused))("%s", (_, [facts, change, reason]) => {
    const { enough, reasons } = given(facts, change);
    expect(enough).toBe(false);
    expect(reasons.join("; ")).toMatch(reason);
  });

  const granted: Record<string, [Partial<CapacityFacts>, Partial<CapacityRequirements>]> = {
    "ignores pods on control-plane nodes": [
      {
        nodes: [...empty.nodes, master("m1")],
        pods: Array.from({ length: 8 }, () => pod("1", "m1")),
      },
      {},
    ],
    "ignores pods that have finished": [
      { pods: [pod("8", "w1", "Succeeded"), pod("8", "w2", "Failed")] },
      {},
    ],
    "ignores pending pods that can only run on other nodes": [
      { pods: [{ ...pod("8"), spec: { ...pod("8").spec, nodeSelector: { infra: "yes" } } }] },
      {},
    ],
    "includes nodes whose taint is tolerated": [
      { nodes: [tainted("w1", { key: "dedicated", value: "ci", effect: "NoSchedule" })] },
      { tolerations: [{ key: "dedicated", operator: "Equal", value: "ci", effect: "NoSchedule" }] },
    ],
    "includes nodes with a PreferNoSchedule taint": [
      { nodes: [tainted("w1", { key: "busy", effect: "PreferNoSchedule" })] },
      {},
    ],
  };
  test.each(Object.entries(granted))("%s", (_, [facts, change]) => {
    expect(given(facts, change).reasons).toEqual([]);
  });
});
