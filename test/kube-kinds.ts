/** Kinds of objects that operators bring to a cluster, as far as Berth looks at them. */
import { pause } from "../src/client/pause.ts";
import type { KubeObject } from "../src/slots/kube-objects.ts";
import type { KubeCluster } from "./kube-cluster.ts";

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const kinds: readonly Kind[] = [
  { group: "hypershift.openshift.io", version: "v1beta1", kind: "HostedCluster" },
  { group: "autoscaling.openshift.io", version: "v1beta1", kind: "MachineAutoscaler" },
];

const pluralOf = ({ kind }: Kind) => `${kind.toLowerCase()}s`;

export async function installKinds(cluster: KubeCluster): Promise<void> {
  const api = await cluster.admin();
  const path = ["apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"];
  for (const each of kinds) await cluster.create(path, definition(each));
  for (const { group, version, ...rest } of kinds) {
    const served = ["apis", group, version, pluralOf({ group, version, ...rest })];
    for (let known = false; !known; ) {
      known = await api.call({ path: served }).then(
        () => true,
        () => pause(50).then(() => false),
      );
    }
  }
}

function definition(kind: Kind): object {
  const plural = pluralOf(kind);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${kind.group}` },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        plural,
        singular: kind.kind.toLowerCase(),
        listKind: `${kind.kind}List`,
      },
      scope: "Namespaced",
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      ],
    },
  };
}

/** A cluster as HyperShift has it, with a finalizer as HyperShift puts it. */
export async function hostedCluster(
  cluster: KubeCluster,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> {
  const path = [
    "apis",
    "hypershift.openshift.io",
    "v1beta1",
    "namespaces",
    namespace,
    "hostedclusters",
  ];
  const [made] = await cluster.create(path, {
    apiVersion: "hypershift.openshift.io/v1beta1",
    kind: "HostedCluster",
    metadata: { name, finalizers: ["hypershift.openshift.io/finalizer"] },
  });
  return made;
}
