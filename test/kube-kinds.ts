/** Kinds of objects that operators bring to a cluster, as far as Berth looks at them. */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { pause } from "../src/client/pause.ts";
import { isConflict } from "../src/kubernetes/errors.ts";
import type { KubeList, KubeObject, LeaseObject } from "../src/kubernetes/kube-objects.ts";
import type { KubeCluster } from "./kube-cluster.ts";

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const hive = { group: "hive.openshift.io", version: "v1" };
const hypershift = { group: "hypershift.openshift.io", version: "v1beta1" };
const templates = { group: "clustertemplate.openshift.io", version: "v1alpha1" };
const tekton = { group: "tekton.dev", version: "v1" };
const clusterApi = { group: "cluster.x-k8s.io", version: "v1beta2" };

const kinds: readonly Kind[] = [
  { group: "autoscaling.openshift.io", version: "v1beta1", kind: "MachineAutoscaler" },
  { group: "monitoring.coreos.com", version: "v1", kind: "ServiceMonitor" },
  { group: "monitoring.coreos.com", version: "v1", kind: "PrometheusRule" },
  { group: "prow.k8s.io", version: "v1", kind: "ProwJob" },
  { ...hive, kind: "ClusterPool" },
  { ...hive, kind: "ClusterClaim" },
  { ...hive, kind: "ClusterDeployment" },
  { ...hive, kind: "ClusterDeprovision" },
  { ...hive, kind: "ClusterProvision" },
  { ...hypershift, kind: "HostedCluster" },
  { ...hypershift, kind: "NodePool" },
  { ...tekton, kind: "Task" },
  { ...tekton, kind: "Pipeline" },
  { ...tekton, kind: "PipelineRun" },
  { ...tekton, version: "v1beta1", kind: "StepAction" },
  { ...clusterApi, kind: "Cluster" },
  { ...clusterApi, kind: "MachineDeployment" },
  { ...clusterApi, kind: "Machine" },
  { ...templates, kind: "ClusterTemplateInstance" },
  { ...templates, kind: "ClusterTemplate" },
  { ...templates, kind: "ClusterTemplateQuota" },
  { group: "toolchain.dev.openshift.com", version: "v1alpha1", kind: "SpaceRequest" },
  { group: "eaas.konflux-ci.dev", version: "v1alpha1", kind: "Namespace" },
  { group: "argoproj.io", version: "v1alpha1", kind: "Application" },
];

const pluralOf = ({ kind }: Kind) => `${kind.toLowerCase()}s`;

const script = fileURLToPath(new URL("../scripts/kube-kinds", import.meta.url));

/** The folder that `scripts/kube-kinds` has filled; undefined if it was not run. */
export function fetchedFolder(): string | undefined {
  const { status, stdout } = spawnSync(script, ["--find"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** The fetched definitions by their names; none if `scripts/kube-kinds` was not run. */
function fetchedDefinitions(): ReadonlyMap<string, object> {
  const folder = fetchedFolder();
  const files = folder === undefined ? [] : globSync("*/*.yaml", { cwd: folder });
  return new Map(files.flatMap((file) => definitionsIn(join(folder ?? "", file))));
}

function definitionsIn(file: string): readonly (readonly [string, object])[] {
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => {
    const read = document.toJS() as KubeObject;
    return [read.metadata.name, read] as const;
  });
}

/** The kinds that Berth serves, as it defines them for API servers that do not know them. */
const served = new Map(
  definitionsIn(fileURLToPath(new URL("../deploy/caas/definitions.yaml", import.meta.url))),
);

/** As their projects define them, if possible; otherwise small ones of our own. */
export async function installKinds(cluster: KubeCluster): Promise<void> {
  const api = await cluster.admin();
  const path = ["apis", "apiextensions.k8s.io", "v1", "customresourcedefinitions"];
  const fetched = new Map([...served, ...fetchedDefinitions()]);
  for (const each of kinds) {
    const name = `${pluralOf(each)}.${each.group}`;
    const real = fetched.get(name);
    // An older API server, without controllers, may not understand it; the one that CI builds must.
    const made =
      real &&
      (await cluster.create(path, storable(real)).catch((error: unknown) => {
        if (cluster.hasControllers) throw new Error(`Cannot install ${name}`, { cause: error });
        console.warn(`LEFT OUT: the definition of ${name} as its project has it: ${error}`);
        return undefined;
      }));
    if (made === undefined) await cluster.create(path, definition(each));
  }
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

/** Prow's texts make it too large for etcd, and HyperShift has annotations that only OpenShift accepts. */
function storable(definition: object): object {
  const text = JSON.stringify(definition, (key, value: unknown) => {
    return key === "description" && typeof value === "string" ? undefined : value;
  });
  const read = JSON.parse(text) as KubeObject;
  const { annotations = {} } = read.metadata;
  const valid = Object.entries(annotations).filter(([name]) => !name.endsWith("/"));
  return { ...read, metadata: { ...read.metadata, annotations: Object.fromEntries(valid) } };
}

function definition(kind: Kind): object {
  const plural = pluralOf(kind);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${kind.group}`,
      // The API server asks for it in groups of Kubernetes itself.
      annotations: { "api-approved.kubernetes.io": "unapproved, for tests" },
    },
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
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      ],
    },
  };
}

/** The smallest that HyperShift's definition allows. */
export const hostedClusterSpec = {
  platform: { type: "None" },
  pullSecret: { name: "pull-secret" },
  release: { image: "quay.io/openshift-release-dev/ocp-release:4.20.1-multi" },
  services: ["APIServer", "OAuthServer", "Konnectivity", "Ignition"].map((service) => ({
    service,
    servicePublishingStrategy: { type: "LoadBalancer" },
  })),
  networking: {
    clusterNetwork: [{ cidr: "10.132.0.0/14" }],
    serviceNetwork: [{ cidr: "172.31.0.0/16" }],
  },
};

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
    spec: hostedClusterSpec,
  });
  return made;
}

export async function machineAutoscaler(
  cluster: KubeCluster,
  namespace: string,
  name: string,
  maxReplicas: number,
): Promise<void> {
  const path = ["apis", "autoscaling.openshift.io", "v1beta1", "namespaces", namespace];
  await cluster.create([...path, "machineautoscalers"], {
    apiVersion: "autoscaling.openshift.io/v1beta1",
    kind: "MachineAutoscaler",
    metadata: { name },
    spec: { maxReplicas },
  });
}

/** A capacity check counts these in all namespaces. */
const countedKinds = [
  ["pods", "api", "v1"],
  ["nodes", "api", "v1"],
  ["machineautoscalers", "apis", "autoscaling.openshift.io", "v1beta1"],
] as const;

/**
 * The right to create nodes, pods and autoscalers. They count for the whole cluster, so only one
 * test may have some at a time. At its end they are deleted.
 */
export class OwnNodes implements AsyncDisposable {
  readonly #cluster: KubeCluster;
  readonly #lock: LeaseObject;

  private constructor(cluster: KubeCluster, lock: LeaseObject) {
    this.#cluster = cluster;
    this.#lock = lock;
  }

  /** Waits until no other test has nodes. */
  static async reserve(cluster: KubeCluster): Promise<OwnNodes> {
    const locks = await cluster.store("kube-system");
    for (;;) {
      try {
        return new OwnNodes(cluster, await locks.create({ metadata: { name: "nodes-of-a-test" } }));
      } catch (error) {
        if (!isConflict(error)) throw error;
        await pause(200);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const api = await this.#cluster.admin();
    for (const [kind, ...group] of countedKinds) {
      const { items } = await api.call<KubeList<KubeObject>>({ path: [...group, kind] });
      for (const { metadata } of items) {
        const { name, namespace } = metadata;
        const within = namespace === undefined ? [] : ["namespaces", namespace];
        const path = [...group, ...within, kind, name];
        await api.call({ method: "DELETE", path, query: { gracePeriodSeconds: 0 } });
      }
    }
    await (await this.#cluster.store("kube-system")).remove(this.#lock);
  }
}

interface Amounts {
  readonly cpu: string;
  readonly memory: string;
}

/** A node as its kubelet would report it. The server taints it as not ready until a controller, here
 * this test, finds that it is. */
export async function aNode(
  cluster: KubeCluster,
  name: string,
  allocatable: Amounts,
  role = "node-role.kubernetes.io/worker",
): Promise<void> {
  const path = ["api", "v1", "nodes"];
  const [made] = await cluster.create(path, {
    metadata: { name, labels: { [role]: "" } },
    status: { allocatable, conditions: [{ type: "Ready", status: "True" }] },
  });
  const api = await cluster.admin();
  await api.call({ method: "PUT", path: [...path, name], body: { ...made, spec: { taints: [] } } });
}

/** Pending until it has a node; then running, as its kubelet would say. */
export async function aPod(
  cluster: KubeCluster,
  namespace: string,
  name: string,
  requests: Amounts,
  nodeName?: string,
): Promise<void> {
  const path = ["api", "v1", "namespaces", namespace, "pods"];
  const container = { name: "main", image: "none", resources: { requests } };
  const spec = { containers: [container], ...(nodeName === undefined ? undefined : { nodeName }) };
  const [made] = await cluster.create(path, { metadata: { name }, spec });
  if (nodeName === undefined) return;
  const body = { ...made, status: { phase: "Running" } };
  await (await cluster.admin()).call({ method: "PUT", path: [...path, name, "status"], body });
}
