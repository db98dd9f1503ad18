/** The kinds of the operator of cluster templates, and of what it uses. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { Condition } from "../hub/conditions.ts";
import type { Kind } from "../hub/kind.ts";

export const instanceKind: Kind = {
  ...{ group: "clustertemplate.openshift.io", version: "v1alpha1" },
  ...{ kind: "ClusterTemplateInstance", plural: "clustertemplateinstances" },
  from: "the operator of cluster templates",
};

export const applicationKind: Kind = {
  ...{ group: "argoproj.io", version: "v1alpha1", from: "Argo CD" },
  ...{ kind: "Application", plural: "applications" },
};

/** On every Application of an instance. */
export const instanceNameLabel = "clustertemplateinstance.openshift.io/name";
export const instanceNamespaceLabel = "clustertemplateinstance.openshift.io/namespace";

interface NamedRef {
  readonly name?: string;
}

export interface ClusterTemplateInstance extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly kubeconfig?: NamedRef;
    readonly adminPassword?: NamedRef;
    readonly apiServerURL?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface Application extends KubeObject {
  readonly status?: {
    readonly resources?: readonly ApplicationResource[];
    readonly conditions?: readonly Condition[];
  };
}

/** Something that Argo CD has made for an Application. */
export interface ApplicationResource {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The kinds that are a cluster, and where they are served. */
export const clusterKinds: readonly Kind[] = [
  {
    ...{ group: "hypershift.openshift.io", version: "v1beta1", from: "HyperShift" },
    ...{ kind: "HostedCluster", plural: "hostedclusters" },
  },
  {
    ...{ group: "hive.openshift.io", version: "v1", from: "Hive" },
    ...{ kind: "ClusterDeployment", plural: "clusterdeployments" },
  },
  {
    ...{ group: "hive.openshift.io", version: "v1", from: "Hive" },
    ...{ kind: "ClusterClaim", plural: "clusterclaims" },
  },
];
