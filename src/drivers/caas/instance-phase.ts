/** What a ClusterTemplateInstance says about its cluster. Its condition Ready is never written. */
import type { Observation } from "../driver.ts";
import { ageMs, conditionOf } from "../hub/conditions.ts";
import type { ClusterTemplateInstance } from "./objects.ts";

/** The operator writes over its failures, and most of them pass: a write that conflicted, Argo CD busy. */
export const hopelessAfterMs = 5 * 60_000;

/** Conditions, in the order in which they become true. */
const steps = [
  ...["ClusterDefinitionCreated", "ClusterInstallSucceeded", "ManagedClusterCreated"],
  ...["ManagedClusterImported", "KlusterletAddonCreated", "ConsoleURLRetrieved"],
  ...["ArgoClusterAdded", "ClusterSetupCreated", "ClusterSetupSucceeded"],
];
/** Reasons of a failed install that do not pass by themselves. */
const hopelessReasons = [
  "ApplicationDegraded",
  "ApplicationError",
  "ClusterProviderDetectionFailed",
];
/** Phases whose condition must stay false for a while before they are believed. */
const failures: Readonly<Record<string, string>> = {
  ClusterInstallFailed: "ClusterInstallSucceeded",
  ClusterSetupFailed: "ClusterSetupSucceeded",
};

export function instancePhase(instance: ClusterTemplateInstance, nowMs: number): Observation {
  const { phase = "Pending", message = "", kubeconfig, apiServerURL } = instance.status ?? {};
  const words = message === "" ? phase : `${phase}: ${message}`;
  // Its template is gone: nothing will ever be made.
  if (phase === "Failed") return { phase: "failed", message: words };
  if (isHopeless(instance, phase, nowMs)) return { phase: "failed", message: words };
  if (phase === "Ready" && kubeconfig?.name !== undefined) {
    return { phase: "ready", ...(apiServerURL !== undefined && { apiUrl: apiServerURL }) };
  }
  const done = steps.filter((type) => conditionOf(instance, type)?.status === "True").length;
  return { phase: "creating", message: words, progress: done / (steps.length + 1) };
}

function isHopeless(instance: ClusterTemplateInstance, phase: string, nowMs: number): boolean {
  const type = failures[phase];
  const found = type === undefined ? undefined : conditionOf(instance, type);
  if (found?.status !== "False" || ageMs(found, nowMs) < hopelessAfterMs) return false;
  return phase !== "ClusterInstallFailed" || hopelessReasons.includes(found.reason ?? "");
}
