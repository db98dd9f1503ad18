/** HyperShift's operator, played by a test: slow, flapping, and stuck where it is told to be. */
import { conditionOf } from "../src/drivers/hub/conditions.ts";
import { namespaceKind, secretKind } from "../src/drivers/hub/kind.ts";
import {
  controlPlaneNamespace,
  type HostedCluster,
  hostedClusterKind,
  type NodePool,
  nodePoolKind,
} from "../src/drivers/hypershift/objects.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { ScriptedHub } from "./scripted-hub.ts";

const finalizer = "hypershift.openshift.io/finalizer";
const steps = [
  ...["ValidConfiguration", "InfrastructureReady", "EtcdAvailable", "KubeAPIServerAvailable"],
];

export class ScriptedHyperShift extends ScriptedHub {
  readonly #namespace: string;
  /** While false, no node becomes ready. */
  nodes = true;
  /** While false, what the cluster has in its cloud stays there. */
  cleansUp = true;
  /** While true, clusters are available at every other look. */
  flaps = false;
  /** Whether it makes the namespace of the control plane. */
  controlPlanes = true;
  /** A condition that is false, and since when. */
  invalid: { readonly type: string; readonly since: string } | undefined;
  readonly #passes = new Map<string, number>();
  /** Clusters that were deleted without the annotation that cleans their cloud up. */
  readonly leaked: string[] = [];

  constructor(cluster: KubeCluster, namespace: string) {
    super(cluster);
    this.#namespace = namespace;
    this.run(() => this.#clusters());
    this.run(() => this.#pools());
  }

  async #clusters(): Promise<void> {
    const namespace = this.#namespace;
    const found = await this.api.list<HostedCluster>(hostedClusterKind, { namespace });
    for (const each of found) {
      if (each.metadata.deletionTimestamp !== undefined) await this.#remove(each);
      else if (!(await this.addFinalizer(hostedClusterKind, each, finalizer)))
        await this.#step(each);
    }
  }

  async #step(cluster: HostedCluster): Promise<void> {
    const { name, uid = "" } = cluster.metadata;
    const pass = (this.#passes.get(uid) ?? 0) + 1;
    this.#passes.set(uid, pass);
    if (this.invalid !== undefined) {
      const { type, since } = this.invalid;
      const condition = {
        type,
        status: "False",
        message: "no such image",
        lastTransitionTime: since,
      };
      return this.setCondition(hostedClusterKind, cluster, condition);
    }
    const next = steps.find((type) => conditionOf(cluster, type)?.status !== "True");
    if (next !== undefined) {
      return this.setCondition(hostedClusterKind, cluster, { type: next, status: "True" });
    }
    if (cluster.status?.kubeconfig === undefined) return this.#opened(cluster, name);
    const status = this.flaps && pass % 2 === 0 ? "False" : "True";
    if (conditionOf(cluster, "Available")?.status === status) return;
    await this.setCondition(hostedClusterKind, cluster, { type: "Available", status });
  }

  async #opened(cluster: HostedCluster, name: string): Promise<void> {
    const within = { namespace: this.#namespace };
    if (this.controlPlanes) {
      await this.make(namespaceKind, controlPlaneNamespace(this.#namespace, name), {});
    }
    const [config, password] = [`${name}-admin-kubeconfig`, `${name}-kubeadmin-password`];
    await this.make(secretKind, config, { stringData: { kubeconfig: `# of ${name}` } }, within);
    await this.make(secretKind, password, { stringData: { password: `pass-${name}` } }, within);
    await this.setStatus(hostedClusterKind, cluster, {
      kubeconfig: { name: config },
      kubeadminPassword: { name: password },
      controlPlaneEndpoint: { host: "api.example.com", port: 443 },
    });
  }

  async #pools(): Promise<void> {
    const namespace = this.#namespace;
    for (const each of await this.api.list<NodePool>(nodePoolKind, { namespace })) {
      if (each.metadata.deletionTimestamp !== undefined) {
        await this.dropFinalizers(nodePoolKind, each);
        continue;
      }
      if (await this.addFinalizer(nodePoolKind, each, finalizer)) continue;
      const status = this.nodes ? "True" : "False";
      if (conditionOf(each, "Ready")?.status === status) continue;
      await this.setCondition(nodePoolKind, each, {
        type: "Ready",
        status,
        message: "no machines",
      });
    }
  }

  /** NodePools, the cloud, the control plane, its own Secrets, its finalizer: in this order. */
  async #remove(cluster: HostedCluster): Promise<void> {
    const { name, annotations = {} } = cluster.metadata;
    const namespace = this.#namespace;
    const pools = await this.api.list<NodePool & { spec?: { clusterName?: string } }>(
      ...([nodePoolKind, { namespace }] as const),
    );
    const own = pools.filter(({ spec }) => spec?.clusterName === name);
    for (const pool of own) await this.api.remove(nodePoolKind, pool);
    if (own.length > 0) return;
    const cleans = annotations["hypershift.openshift.io/cleanup-cloud-resources"] === "true";
    if (!cleans) this.leaked.push(name);
    if (cleans && !this.cleansUp) {
      if (conditionOf(cluster, "CloudResourcesDestroyed")?.status === "False") return;
      const left = {
        type: "CloudResourcesDestroyed",
        status: "False",
        message: "2 load balancers",
      };
      return this.setCondition(hostedClusterKind, cluster, left);
    }
    const control = controlPlaneNamespace(namespace, name);
    const running = await this.api.find(namespaceKind, control);
    if (running !== undefined) {
      await this.api.remove(namespaceKind, running);
      return;
    }
    for (const secret of [`${name}-admin-kubeconfig`, `${name}-kubeadmin-password`]) {
      const found = await this.api.find(secretKind, secret, { namespace });
      if (found !== undefined) await this.api.remove(secretKind, found);
    }
    await this.dropFinalizers(hostedClusterKind, cluster);
  }
}
