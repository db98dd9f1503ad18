/** Cluster API's kinds, as far as the driver reads them: in v1beta1 and in v1beta2. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { Condition } from "../hub/conditions.ts";
import type { Kind } from "../hub/kind.ts";

export const clusterApiGroup = "cluster.x-k8s.io";

/** The template decides on the version; hubs serve several. */
export function kindsOf(version: string) {
  const common = { group: clusterApiGroup, version, from: "Cluster API" };
  const kind = (name: string): Kind => {
    return { ...common, kind: name, plural: `${name.toLowerCase()}s` };
  };
  return {
    cluster: kind("Cluster"),
    machine: kind("Machine"),
    machineDeployment: kind("MachineDeployment"),
  };
}

/** On everything that belongs to a Cluster. */
export const clusterNameLabel = "cluster.x-k8s.io/cluster-name";

export interface Cluster extends KubeObject {
  readonly spec?: {
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
    readonly topology?: { readonly version?: string };
  };
  readonly status?: {
    readonly phase?: string;
    /** Only v1beta1. */
    readonly failureReason?: string;
    readonly failureMessage?: string;
    readonly deprecated?: {
      readonly v1beta1?: { readonly failureReason?: string; readonly failureMessage?: string };
    };
    readonly conditions?: readonly Condition[];
  };
}

export interface MachineDeployment extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number; readonly conditions?: readonly Condition[] };
}
