/** What a Cluster and its MachineDeployments say about a cluster. */
import type { Observation } from "../driver.ts";
import { complaints, conditionOf, isTrue } from "../hub/conditions.ts";
import type { Cluster, MachineDeployment } from "./objects.ts";

/** In the order in which they become true; the second name is that of v1beta1. */
const steps = [
  ["TopologyReconciled", "TopologyReconciled"],
  ["InfrastructureReady", "InfrastructureReady"],
  ["ControlPlaneInitialized", "ControlPlaneInitialized"],
  ["ControlPlaneAvailable", "ControlPlaneReady"],
  ["WorkersAvailable", "Ready"],
] as const;

export function clusterPhase(
  cluster: Cluster,
  deployments: readonly MachineDeployment[],
): Observation {
  const failure = failureOf(cluster);
  if (failure !== undefined) return { phase: "failed", message: failure };
  const has = ([name, older]: readonly [string, string]) =>
    isTrue(cluster, name) || isTrue(cluster, older);
  const controlPlane = has(["ControlPlaneAvailable", "ControlPlaneReady"]);
  const waiting = deployments.filter((each) => !isReady(each));
  const workers = conditionOf(cluster, "WorkersAvailable")?.status !== "False";
  // A cluster that says that it is not available is believed; one that says nothing is not asked.
  const available = conditionOf(cluster, "Available")?.status !== "False";
  if (controlPlane && workers && available && waiting.length === 0) return ready(cluster);
  const done = steps.filter(has).length;
  const message = [
    ...complaints(cluster, steps.flat(), "False").slice(0, 2),
    ...waiting.map(({ metadata, spec, status }) => {
      const count = `${status?.readyReplicas ?? 0} of ${spec?.replicas ?? 1}`;
      return `MachineDeployment ${metadata.name} has ${count} nodes ready`;
    }),
  ].join("; ");
  return { phase: "creating", message, progress: Math.min(done / steps.length, 0.99) };
}

function isReady({ spec, status }: MachineDeployment): boolean {
  return (status?.readyReplicas ?? 0) >= (spec?.replicas ?? 1);
}

/** Cluster API says itself that this needs somebody's help. */
function failureOf({ status }: Cluster): string | undefined {
  const { failureReason, failureMessage } = status?.deprecated?.v1beta1 ?? status ?? {};
  if (failureReason === undefined && failureMessage === undefined && status?.phase !== "Failed") {
    return undefined;
  }
  return [failureReason ?? "Failed", failureMessage].filter(Boolean).join(": ");
}

function ready({ spec }: Cluster): Observation {
  const { host, port = 6443 } = spec?.controlPlaneEndpoint ?? {};
  const version = spec?.topology?.version;
  return {
    phase: "ready",
    ...(host !== undefined && host !== "" && { apiUrl: `https://${host}:${port}` }),
    ...(version !== undefined && { version }),
  };
}
