/**
 * Clusters with a hosted control plane: a HostedCluster and its NodePools. The infra id is the name of
 * the cluster, which follows from its instance: whatever happens to the object, what it has left in
 * the cloud can be found.
 */

import { versionIn } from "../../core/model/version.ts";
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
import { namespaceKind } from "../hub/kind.ts";
import { collect, conditionsText } from "../hub/logs.ts";
import type { RenderedObject } from "../hub/manifest.ts";
import { ManifestCluster, type ManifestSettings } from "../hub/manifest-cluster.ts";
import { waitingFor } from "../hub/waiting-for.ts";
import type { SecretMask } from "../secret-mask.ts";
import { hostedPhase } from "./hosted-phase.ts";
import {
  cleanupKey,
  controlPlaneNamespace,
  type HostedCluster,
  hostedClusterKind,
  type NodePool,
  nodePoolKind,
} from "./objects.ts";
import { supportedVersions } from "./supported-versions.ts";
import { tagged } from "./tagged.ts";
import { mustBeSupported, mustFit } from "./versions.ts";

export class HyperShiftDriver implements Driver {
  readonly capabilities = { hibernates: false, mintsAccess: false };
  readonly #hub: HubApi;
  readonly #settings: ManifestSettings;
  readonly #mask: SecretMask;
  readonly #cluster: ManifestCluster;

  constructor(hub: HubApi, settings: ManifestSettings, mask: SecretMask) {
    this.#hub = hub;
    this.#settings = settings;
    this.#mask = mask;
    this.#cluster = new ManifestCluster(hub, settings, hostedClusterKind);
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    const rendered = this.#cluster.render(spec);
    if ((await this.#cluster.find(spec, signal)) === undefined) {
      await this.#checkVersions(spec, rendered, signal);
    }
    const objects = rendered.map((each) => tagged(each, spec, this.#settings.owner));
    return this.#cluster.create(spec, objects, signal);
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const cluster = await this.#cluster.find<HostedCluster>(ref, signal);
    if (cluster === undefined) {
      const others = await this.#cluster.others(ref, signal);
      return this.#cluster.withoutMain(ref, others, await this.#controlPlane(ref, signal));
    }
    const pools = await this.#nodePools(ref, signal);
    if (cluster.metadata.deletionTimestamp !== undefined) return destroying(cluster, pools);
    const { clock } = await this.#hub.connected();
    const poolsWanted = this.#cluster.count(nodePoolKind.kind);
    return hostedPhase({ cluster, pools, poolsWanted, nowMs: clock.atLeastMs() });
  }

  async credentials(ref: ClusterRef, { signal }: CallOptions = {}): Promise<AccessBundle> {
    const cluster = await this.#cluster.find<HostedCluster>(ref, signal);
    const kubeconfig = cluster?.status?.kubeconfig?.name;
    if (cluster === undefined || kubeconfig === undefined) {
      throw new Absent(`There is no HostedCluster ${ref.name} of this instance with access`);
    }
    const password = cluster.status?.kubeadminPassword?.name;
    const { namespace } = this.#settings;
    const secrets = { kubeconfig, keys: ["kubeconfig"], password };
    return readAccess(this.#hub, this.#mask, secrets, { namespace, signal });
  }

  async hibernate(): Promise<void> {
    throw new Hopeless("Cannot hibernate the cluster: HyperShift cannot stop a control plane");
  }

  async resume(): Promise<void> {
    throw new Hopeless("Cannot resume the cluster: clusters of HyperShift never hibernate");
  }

  /** The operator removes the NodePools itself; the Secrets that it needs for that go last. */
  async destroy(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    const cluster = await this.#cluster.find<HostedCluster>(ref, signal);
    if (cluster === undefined) {
      const others = await this.#cluster.others(ref, signal);
      // Looked up only for what was ours: the name may belong to somebody else.
      if (others.length === 0 || (await this.#controlPlane(ref, signal)).length > 0) return;
      await this.#cluster.parts.remove(others, signal);
      return;
    }
    const part = { kind: hostedClusterKind, object: await this.#cleanedUp(cluster, signal) };
    await this.#cluster.parts.remove([part], signal);
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], { signal }: CallOptions = {}): Promise<void> {
    return this.#cluster.mark(ref, tags, signal);
  }

  list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    return this.#cluster.list(signal);
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    const sources = [
      async () => {
        const pools = await this.#nodePools(ref, signal);
        return pools.map((pool) => conditionsText({ kind: "NodePool", ...pool })).join("\n");
      },
      async () => conditionsText(await this.#cluster.find<HostedCluster>(ref, signal)),
    ];
    return this.#mask.clean(await collect(sources, budget));
  }

  async #nodePools(ref: ClusterRef, signal?: AbortSignal): Promise<readonly NodePool[]> {
    const { namespace } = this.#settings;
    const found = await this.#cluster.parts.ofCluster([nodePoolKind], ref, { namespace, signal });
    return found.map(({ object }) => object);
  }

  /** Out of the hub's window: refused before anything is made. A hub that does not tell is believed. */
  async #checkVersions(
    { parameters }: ClusterSpec,
    rendered: readonly RenderedObject[],
    signal?: AbortSignal,
  ): Promise<void> {
    const [main] = rendered.filter((each) => this.#cluster.isMain(each));
    const asked = parameters["version"];
    const wanted = releaseOf(main) ?? (asked === undefined ? undefined : versionIn(String(asked)));
    if (wanted === undefined) return;
    mustBeSupported(wanted, await supportedVersions(this.#hub, signal));
    for (const pool of rendered.filter(({ kind }) => kind === nodePoolKind.kind)) {
      const nodes = releaseOf(pool);
      if (nodes !== undefined) mustFit(nodes, wanted);
    }
  }

  async #cleanedUp(cluster: HostedCluster, signal?: AbortSignal): Promise<KubeObject> {
    const { annotations = {}, deletionTimestamp } = cluster.metadata;
    if (annotations[cleanupKey] === "true" || deletionTimestamp !== undefined) return cluster;
    const change = { metadata: { annotations: { [cleanupKey]: "true" } } };
    return this.#hub.patch(hostedClusterKind, cluster, change, { signal });
  }

  /** What still runs although the HostedCluster is gone, as when its finalizer was taken away. */
  async #controlPlane(ref: ClusterRef, signal?: AbortSignal): Promise<readonly string[]> {
    const { namespace } = this.#settings;
    const within = { namespace, signal };
    if ((await this.#hub.find(hostedClusterKind, ref.name, within)) !== undefined) return [];
    const name = controlPlaneNamespace(namespace, ref.name);
    const found = await this.#hub.find(namespaceKind, name, { signal });
    return found === undefined ? [] : [`Namespace ${name} of its control plane is still there`];
  }
}

function releaseOf(object: RenderedObject | undefined) {
  const release = object?.spec?.["release"] as { readonly image?: unknown } | undefined;
  return typeof release?.image === "string" ? versionIn(release.image) : undefined;
}

function destroying(cluster: HostedCluster, pools: readonly NodePool[]): Observation {
  const blocking = [
    waitingFor("HostedCluster", cluster),
    ...complaints(cluster, ["CloudResourcesDestroyed", "HostedClusterDestroyed"], "False"),
    ...pools.map((pool) => waitingFor("NodePool", pool)),
  ];
  return { phase: "destroying", message: blocking.join("; "), blocking };
}
