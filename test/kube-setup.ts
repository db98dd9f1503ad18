/**
 * Starts one Kubernetes API server for all test files of the project `kubernetes`. A start costs as
 * much processor time as most of these files, so they share one. Every test has its own namespace.
 */
import type { TestProject } from "vitest/node";
import { noKube } from "./kube-binaries.ts";
import { type ClusterAddress, KubeCluster } from "./kube-cluster.ts";
import { installKinds } from "./kube-kinds.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly kubeCluster: ClusterAddress;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (noKube) return undefined;
  const cluster = await KubeCluster.start();
  await installKinds(cluster);
  project.provide("kubeCluster", cluster.address);
  return () => cluster[Symbol.asyncDispose]();
}
