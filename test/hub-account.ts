/** The accounts of deploy/hubs, made on a cluster as an administrator would. */
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { KubeCluster } from "./kube-cluster.ts";
import { accountConfig } from "./slots-world.ts";

interface Granted {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly roleRef?: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

export interface HubAccount {
  readonly kubeconfig: string;
  /** `verb resource` of all rights of the file. */
  readonly granted: readonly string[];
}

/** The objects of the file, all in one namespace. */
export async function hubAccount(
  cluster: KubeCluster,
  name: string,
  namespace: string,
): Promise<HubAccount> {
  const file = new URL(`../deploy/hubs/${name}.yaml`, import.meta.url);
  const text = readFileSync(file, "utf8").replaceAll(
    /namespace: [a-z-]+/g,
    `namespace: ${namespace}`,
  );
  const objects = parseAllDocuments(text).map((each) => each.toJS() as Granted);
  for (const each of objects) await create(cluster, each, namespace);
  const granted = objects.flatMap(({ rules = [] }) =>
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    ),
  );
  return { kubeconfig: await accountConfig(cluster, namespace, `berth-${name}`), granted };
}

/** Those for the whole hub get a name for each test; their account keeps its own. */
async function create(cluster: KubeCluster, object: Granted, namespace: string): Promise<void> {
  const { kind, metadata, roleRef } = object;
  const group =
    kind === "ServiceAccount" ? ["api", "v1"] : ["apis", "rbac.authorization.k8s.io", "v1"];
  const plural = `${kind.toLowerCase()}s`;
  if (!kind.startsWith("Cluster")) {
    await cluster.create([...group, "namespaces", namespace, plural], object);
    return;
  }
  const renamed = { ...object, metadata: { ...metadata, name: `${metadata.name}-${namespace}` } };
  const ref = roleRef && { roleRef: { ...roleRef, name: `${roleRef.name}-${namespace}` } };
  await cluster.create([...group, plural], { ...renamed, ...ref });
}
