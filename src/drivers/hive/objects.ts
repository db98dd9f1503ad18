/** Hive's kinds, as far as the driver reads and writes them. */

import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { Condition } from "../hub/conditions.ts";
import type { Kind } from "../hub/kind.ts";

const hive = { group: "hive.openshift.io", version: "v1", from: "Hive" };

export const poolKind: Kind = { ...hive, kind: "ClusterPool", plural: "clusterpools" };
export const claimKind: Kind = { ...hive, kind: "ClusterClaim", plural: "clusterclaims" };
export const deploymentKind: Kind = {
  ...{ ...hive, kind: "ClusterDeployment", plural: "clusterdeployments" },
};
export const deprovisionKind: Kind = {
  ...{ ...hive, kind: "ClusterDeprovision", plural: "clusterdeprovisions" },
};
export const provisionKind: Kind = {
  ...{ ...hive, kind: "ClusterProvision", plural: "clusterprovisions" },
};

interface NamedRef {
  readonly name?: string;
}

export interface ClusterPool extends KubeObject {
  readonly spec?: { readonly size?: number; readonly maxSize?: number };
  readonly status?: {
    /** Installed and running, and not claimed. */
    readonly ready?: number;
    /** Installed, and asleep. */
    readonly standby?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface ClusterClaim extends KubeObject {
  readonly spec?: {
    readonly clusterPoolName?: string;
    /** Of its cluster, once it has one. The ClusterDeployment in it has the same name. */
    readonly namespace?: string;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface ClusterDeployment extends KubeObject {
  readonly spec?: {
    readonly installed?: boolean;
    /** Wanted. Empty: running. */
    readonly powerState?: string;
    readonly clusterPoolRef?: { readonly claimName?: string; readonly namespace?: string };
    readonly clusterMetadata?: {
      readonly adminKubeconfigSecretRef?: NamedRef;
      readonly adminPasswordSecretRef?: NamedRef;
    };
  };
  readonly status?: {
    /** Observed. */
    readonly powerState?: string;
    readonly apiURL?: string;
    readonly installVersion?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface ClusterDeprovision extends KubeObject {
  readonly status?: { readonly completed?: boolean; readonly conditions?: readonly Condition[] };
}

export interface ClusterProvision extends KubeObject {
  readonly spec?: {
    readonly attempt?: number;
    readonly stage?: string;
    readonly installLog?: string;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const deploymentNameLabel = "hive.openshift.io/cluster-deployment-name";
