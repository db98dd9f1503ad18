/** What a ClusterDeployment says about its cluster, and whether that can be relied on. */
import type { Observation } from "../driver.ts";
import { complaints, conditionOf, inWords, isTrue } from "../hub/conditions.ts";
import type { ClusterDeployment } from "./objects.ts";

/** The steps of a resume, in their order, by the power state that Hive shows meanwhile. */
const resumeSteps: readonly (readonly string[])[] = [
  ["StartingMachines", "WaitingForMachines"],
  ["WaitingForNodes"],
  ["PausingForClusterOperatorsToSettle"],
  ["WaitingForClusterOperators"],
];

/** Conditions that keep an install from going on, if they are true. */
const installTroubles = [
  ...["ProvisionFailed", "InstallLaunchError", "DNSNotReady", "AuthenticationFailure"],
  ...["InstallImagesNotResolved", "ClusterInstallFailed"],
];

export function deploymentPhase(found: ClusterDeployment): Observation {
  if (found.metadata.deletionTimestamp !== undefined) return { phase: "destroying" };
  if (found.spec?.installed !== true) return installing(found);
  const [wanted, observed] = [wantedPower(found), found.status?.powerState ?? ""];
  if (wanted === "Hibernating") {
    if (observed === "Hibernating" && isTrue(found, "Hibernating")) return { phase: "hibernated" };
    return { phase: "stopping", message: powerMessage(found) };
  }
  return isRunning(found) ? ready(found) : resuming(found);
}

function installing(found: ClusterDeployment): Observation {
  const stopped = conditionOf(found, "ProvisionStopped");
  if (stopped?.status === "True") {
    const failed = conditionOf(found, "ProvisionFailed");
    const why = [stopped, ...(failed?.status === "True" ? [failed] : [])].map(inWords);
    return { phase: "failed", message: why.join("; ") };
  }
  const troubles = complaints(found, installTroubles, "True");
  const unmet = complaints(found, ["RequirementsMet"], "False");
  const provisioned = conditionOf(found, "Provisioned");
  const message = [...unmet, ...troubles, ...(provisioned ? [inWords(provisioned)] : [])].join(
    "; ",
  );
  return { phase: "creating", ...(message !== "" && { message }) };
}

export function wantedPower({ spec }: ClusterDeployment): "Running" | "Hibernating" {
  return spec?.powerState === "Hibernating" ? "Hibernating" : "Running";
}

/** Hive's word for it, its condition, and the means to use the cluster: each can be missing. */
function isRunning(found: ClusterDeployment): boolean {
  const { spec, status } = found;
  return (
    status?.powerState === "Running" &&
    isTrue(found, "Ready") &&
    !isTrue(found, "Unreachable") &&
    spec?.clusterMetadata?.adminKubeconfigSecretRef?.name !== undefined
  );
}

function ready({ status }: ClusterDeployment): Observation {
  const { apiURL, installVersion } = status ?? {};
  return {
    phase: "ready",
    ...(apiURL !== undefined && { apiUrl: apiURL }),
    ...(installVersion !== undefined && { version: installVersion }),
  };
}

function resuming(found: ClusterDeployment): Observation {
  const observed = found.status?.powerState ?? "";
  const step = resumeSteps.findIndex((names) => names.includes(observed));
  const message = powerMessage(found);
  if (step < 0) return { phase: "resuming", message };
  return { phase: "resuming", message, progress: (step + 0.5) / resumeSteps.length };
}

function powerMessage(found: ClusterDeployment): string {
  const observed = found.status?.powerState ?? "Unknown";
  const troubles = complaints(found, ["Unreachable", "AuthenticationFailure"], "True");
  const step = resumeSteps.findIndex((names) => names.includes(observed)) + 1;
  const head = step === 0 ? observed : `${observed} (step ${step} of ${resumeSteps.length})`;
  return [head, ...troubles].join("; ");
}

/** The platform has no power states, so the cluster runs for ever. */
export function cannotHibernate(found: ClusterDeployment): boolean {
  return conditionOf(found, "Hibernating")?.reason === "Unsupported";
}
