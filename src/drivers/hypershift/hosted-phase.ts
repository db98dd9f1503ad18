/** What a HostedCluster and its NodePools say about a cluster. */
import type { Observation } from "../driver.ts";
import { ageMs, complaints, conditionOf, inWords, isTrue } from "../hub/conditions.ts";
import type { HostedCluster, NodePool } from "./objects.ts";

/** If one of these stays false, the operator will never make the cluster. */
const hopeless = [
  ...["ValidReleaseImage", "SupportedHostedCluster", "ValidConfiguration"],
  "ValidHostedControlPlaneConfiguration",
];
/** They are false for a moment while the operator looks. */
export const hopelessAfterMs = 5 * 60_000;
/** In the order in which they become true. */
const steps = [
  ...["ValidConfiguration", "InfrastructureReady", "EtcdAvailable", "KubeAPIServerAvailable"],
  "Available",
];

export interface Hosted {
  readonly cluster: HostedCluster;
  readonly pools: readonly NodePool[];
  /** As many as the template makes. */
  readonly poolsWanted: number;
  /** By the hub's clock. */
  readonly nowMs: number;
}

export function hostedPhase({ cluster, pools, poolsWanted, nowMs }: Hosted): Observation {
  for (const type of hopeless) {
    const found = conditionOf(cluster, type);
    if (found?.status === "False" && ageMs(found, nowMs) > hopelessAfterMs) {
      return { phase: "failed", message: inWords(found) };
    }
  }
  const waiting = pools.filter((pool) => !isTrue(pool, "Ready"));
  const isUsable = isTrue(cluster, "Available") && cluster.status?.kubeconfig?.name !== undefined;
  if (isUsable && waiting.length === 0 && pools.length >= poolsWanted) return ready(cluster);
  const done = steps.filter((type) => isTrue(cluster, type)).length;
  const readyPools = pools.length - waiting.length;
  const message = [
    ...complaints(cluster, ["Degraded"], "True"),
    ...complaints(cluster, steps, "False").slice(0, 1),
    `${readyPools} of ${poolsWanted} NodePools are ready`,
    ...waiting.flatMap((pool) => complaints(pool, ["Ready", "ValidReleaseImage"], "False")),
  ].join("; ");
  const progress = (done + readyPools) / (steps.length + Math.max(poolsWanted, 1));
  return { phase: "creating", message, progress: Math.min(progress, 0.99) };
}

function ready({ status }: HostedCluster): Observation {
  const { host, port = 6443 } = status?.controlPlaneEndpoint ?? {};
  const version = status?.version?.history?.find(({ state }) => state === "Completed")?.version;
  return {
    phase: "ready",
    ...(host !== undefined && host !== "" && { apiUrl: `https://${host}:${port}` }),
    ...(version !== undefined && { version }),
  };
}
