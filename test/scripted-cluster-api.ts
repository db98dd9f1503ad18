/** The controllers of Cluster API, played by a test. */
import {
  type Cluster,
  clusterNameLabel,
  kindsOf,
  type MachineDeployment,
} from "../src/drivers/cluster-api/objects.ts";
import { conditionOf } from "../src/drivers/hub/conditions.ts";
import { secretKind } from "../src/drivers/hub/kind.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { ScriptedHub } from "./scripted-hub.ts";

export const kinds = kindsOf("v1beta2");
export const finalizer = "cluster.cluster.x-k8s.io";
const steps = [
  ...["TopologyReconciled", "InfrastructureReady", "ControlPlaneInitialized"],
  "ControlPlaneAvailable",
];

export class ScriptedClusterApi extends ScriptedHub {
  readonly #namespace: string;
  /** While false, no worker is ready. */
  workers = true;
  /** While false, machines stay. */
  removesMachines = true;

  constructor(cluster: KubeCluster, namespace: string) {
    super(cluster);
    this.#namespace = namespace;
    this.run(() => this.#clusters());
  }

  async #clusters(): Promise<void> {
    const within = { namespace: this.#namespace };
    for (const each of await this.api.list<Cluster>(kinds.cluster, within)) {
      if (each.metadata.deletionTimestamp !== undefined) await this.#remove(each);
      else if (!(await this.addFinalizer(kinds.cluster, each, finalizer))) await this.#step(each);
    }
    for (const each of await this.api.list<MachineDeployment>(kinds.machineDeployment, within)) {
      const readyReplicas = this.workers ? (each.spec?.replicas ?? 0) : 0;
      if (each.status?.readyReplicas === readyReplicas) continue;
      await this.setStatus(kinds.machineDeployment, each, { readyReplicas });
    }
  }

  async #step(cluster: Cluster): Promise<void> {
    const next = steps.find((type) => conditionOf(cluster, type)?.status !== "True");
    if (next === undefined) return;
    if (next === "InfrastructureReady") await this.#machines(cluster);
    await this.setCondition(kinds.cluster, cluster, { type: next, status: "True" });
  }

  async #machines({ metadata: { name } }: Cluster): Promise<void> {
    const within = { namespace: this.#namespace };
    const metadata = { labels: { [clusterNameLabel]: name } };
    const ref = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DockerMachine", name: "m" };
    const machine = {
      clusterName: name,
      bootstrap: { dataSecretName: "b" },
      infrastructureRef: ref,
    };
    const template = { spec: machine };
    const spec = { clusterName: name, replicas: 2, selector: {}, template };
    await this.make(kinds.machineDeployment, `${name}-workers`, { metadata, spec }, within);
    await this.make(kinds.machine, `${name}-0`, { metadata, spec: machine }, within);
    const stringData = { value: `# of ${name}` };
    await this.make(secretKind, `${name}-kubeconfig`, { stringData }, within);
  }

  async #remove(cluster: Cluster): Promise<void> {
    if (!this.removesMachines) return;
    const { name } = cluster.metadata;
    const within = { namespace: this.#namespace, labels: `${clusterNameLabel}=${name}` };
    for (const kind of [kinds.machineDeployment, kinds.machine]) {
      for (const each of await this.api.list(kind, within)) await this.api.remove(kind, each);
    }
    const secret = await this.api.find(secretKind, `${name}-kubeconfig`, within);
    if (secret !== undefined) await this.api.remove(secretKind, secret);
    await this.dropFinalizers(kinds.cluster, cluster);
  }
}
