/**
 * Starts one Kubernetes API server for all test files of the project `kubernetes`. A start costs as
 * much processor time as most of these files, so they share one. Every test has its own namespace.
 */
import type { TestProject } from "vitest/node";
import { findKubeBinaries } from "./kube-binaries.ts";
import { type ClusterAddress, KubeCluster } from "./kube-cluster.ts";
import { installKinds } from "./kube-kinds.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly kubeCluster: ClusterAddress | undefined;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if ("missing" in findKubeBinaries()) return undefined; // The tests are skipped, or fail.
  const cluster = await KubeCluster.start({ controllers: true });
  await installKinds(cluster);
  project.provide("kubeCluster", cluster.address);
  return () => cluster[Symbol.asyncDispose]();
}
