/** HyperShift's kinds, as far as the driver reads and writes them. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { Condition } from "../hub/conditions.ts";
import type { Kind } from "../hub/kind.ts";

const hypershift = { group: "hypershift.openshift.io", version: "v1beta1", from: "HyperShift" };

export const hostedClusterKind: Kind = {
  ...{ ...hypershift, kind: "HostedCluster", plural: "hostedclusters" },
};
export const nodePoolKind: Kind = { ...hypershift, kind: "NodePool", plural: "nodepools" };

interface NamedRef {
  readonly name?: string;
}

export interface HostedCluster extends KubeObject {
  readonly status?: {
    readonly kubeconfig?: NamedRef;
    readonly kubeadminPassword?: NamedRef;
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
    readonly version?: {
      readonly history?: readonly { readonly version?: string; readonly state?: string }[];
    };
    readonly conditions?: readonly Condition[];
  };
}

export interface NodePool extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Without it the operator leaves in the cloud what the cluster has made there itself. */
export const cleanupKey = "hypershift.openshift.io/cleanup-cloud-resources";

/** Where the operator runs the control plane. */
export function controlPlaneNamespace(namespace: string, name: string): string {
  return `${namespace}-${name.replaceAll(".", "-")}`;
}
