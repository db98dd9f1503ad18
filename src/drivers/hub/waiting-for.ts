import type { KubeObject } from "../../kubernetes/kube-objects.ts";

/** `HostedCluster x waits for a/finalizer, b/finalizer`: what keeps an object from going. */
export function waitingFor(kind: string, { metadata }: KubeObject): string {
  const { name, finalizers = [] } = metadata;
  const state = finalizers.length === 0 ? "is being deleted" : `waits for ${finalizers.join(", ")}`;
  return `${kind} ${name} ${state}`;
}
