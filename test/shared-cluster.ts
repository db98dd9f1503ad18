import { inject } from "vitest";
import { KubeCluster } from "./kube-cluster.ts";

/**
 * The cluster that all test files of the project `kubernetes` share; `kube-setup.ts` starts it. A
 * test must not stop it.
 */
export function sharedCluster(): KubeCluster {
  return KubeCluster.at(inject("kubeCluster"));
}
