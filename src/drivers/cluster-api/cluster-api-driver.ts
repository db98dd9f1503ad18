/** Clusters of Cluster API: a Cluster with a topology, from a ClusterClass of the hub. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import {
  Absent,
  type AccessBundle,
  type CallOptions,
  type ClusterRef,
  type ClusterSpec,
  type Driver,
  Hopeless,
  type Json,
  type ListedCluster,
  type LogBudget,
  type Observation,
} from "../driver.ts";
import { readAccess } from "../hub/access.ts";
import { complaints } from "../hub/conditions.ts";
import type { HubApi } from "../hub/hub-api.ts";
import type { Kind } from "../hub/kind.ts";
import { labelSelector } from "../hub/label-selector.ts";
import { collect, conditionsText } from "../hub/logs.ts";
import { ManifestCluster, type ManifestSettings } from "../hub/manifest-cluster.ts";
import { waitingFor } from "../hub/waiting-for.ts";
import type { SecretMask } from "../secret-mask.ts";
import { clusterPhase } from "./cluster-phase.ts";
import { type Cluster, clusterNameLabel, kindsOf, type MachineDeployment } from "./objects.ts";

export class ClusterApiDriver implements Driver {
  readonly capabilities = { hibernates: false, mintsAccess: false };
  readonly #hub: HubApi;
  readonly #settings: ManifestSettings;
  readonly #mask: SecretMask;
  readonly #kinds: ReturnType<typeof kindsOf>;
  readonly #cluster: ManifestCluster;

  constructor(hub: HubApi, settings: ManifestSettings, mask: SecretMask) {
    this.#hub = hub;
    this.#settings = settings;
    this.#mask = mask;
    const main = settings.objects.find(({ kind }) => kind === "Cluster");
    const [, version = "v1beta2"] = String(main?.["apiVersion"] ?? "").split("/");
    this.#kinds = kindsOf(version);
    this.#cluster = new ManifestCluster(hub, settings, this.#kinds.cluster);
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    return this.#cluster.create(spec, this.#cluster.render(spec), signal);
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const cluster = await this.#cluster.find<Cluster>(ref, signal);
    if (cluster === undefined) {
      const others = await this.#cluster.others(ref, signal);
      return this.#cluster.withoutMain(ref, others, await this.#machinesLeft(ref, signal));
    }
    if (cluster.metadata.deletionTimestamp !== undefined) {
      const machines = await this.#ofCluster(this.#kinds.machine, ref, signal);
      const blocking = [
        waitingFor("Cluster", cluster),
        ...complaints(cluster, ["Deleting"], "True"),
        ...machines.map((machine) => waitingFor("Machine", machine)),
      ];
      return { phase: "destroying", message: blocking.join("; "), blocking };
    }
    const deployments = await this.#ofCluster<MachineDeployment>(
      ...[this.#kinds.machineDeployment, ref, signal],
    );
    return clusterPhase(cluster, deployments);
  }

  async credentials(ref: ClusterRef, { signal }: CallOptions = {}): Promise<AccessBundle> {
    const cluster = await this.#cluster.find<Cluster>(ref, signal);
    if (cluster === undefined) throw new Absent(`There is no Cluster ${ref.name} of this instance`);
    const { namespace } = this.#settings;
    const secrets = { kubeconfig: `${ref.name}-kubeconfig`, keys: ["value"] };
    return readAccess(this.#hub, this.#mask, secrets, { namespace, signal });
  }

  async hibernate(): Promise<void> {
    throw new Hopeless("Cannot hibernate the cluster: Cluster API cannot stop machines");
  }

  async resume(): Promise<void> {
    throw new Hopeless("Cannot resume the cluster: clusters of Cluster API never hibernate");
  }

  /** Cluster API removes the machines; what it needs for that goes last. */
  async destroy(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    const cluster = await this.#cluster.find<Cluster>(ref, signal);
    if (cluster !== undefined) {
      const part = { kind: this.#kinds.cluster, object: cluster };
      await this.#cluster.parts.remove([part], signal);
      return;
    }
    const others = await this.#cluster.others(ref, signal);
    if (others.length === 0 || (await this.#machinesLeft(ref, signal)).length > 0) return;
    await this.#cluster.parts.remove(others, signal);
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], { signal }: CallOptions = {}): Promise<void> {
    return this.#cluster.mark(ref, tags, signal);
  }

  list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    return this.#cluster.list(signal);
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    const cluster = await this.#cluster.find<Cluster>(ref, signal);
    if (cluster === undefined) return "";
    const sources = [
      async () => {
        const machines = await this.#ofCluster(this.#kinds.machine, ref, signal);
        return machines.map((each) => conditionsText({ kind: "Machine", ...each })).join("\n");
      },
      async () => conditionsText({ kind: "Cluster", ...cluster }),
    ];
    return this.#mask.clean(await collect(sources, budget));
  }

  /** What is left although the Cluster is gone, as when its finalizer was taken away. */
  async #machinesLeft(ref: ClusterRef, signal?: AbortSignal): Promise<readonly string[]> {
    const { namespace } = this.#settings;
    const within = { namespace, signal };
    if ((await this.#hub.find(this.#kinds.cluster, ref.name, within)) !== undefined) return [];
    const machines = await this.#ofCluster(this.#kinds.machine, ref, signal);
    return machines.map(({ metadata }) => `Machine ${metadata.name} is still there`);
  }

  #ofCluster<Item extends KubeObject>(
    kind: Kind,
    { name }: ClusterRef,
    signal?: AbortSignal,
  ): Promise<readonly Item[]> {
    const { namespace } = this.#settings;
    const labels = labelSelector({ [clusterNameLabel]: name });
    return this.#hub.list<Item>(kind, { namespace, labels, signal });
  }
}
