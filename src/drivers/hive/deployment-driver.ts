/**
 * Single ClusterDeployments of Hive, each in a namespace of its own. The namespace is made first and the
 * ClusterDeployment last, because it is what costs money; it is removed first, and the rest only when
 * Hive has removed the cluster from its cloud: until then Hive needs the credentials in the namespace.
 */
import {
  Absent,
  type AccessBundle,
  type CallOptions,
  type Capabilities,
  type ClusterRef,
  type ClusterSpec,
  type Driver,
  Hopeless,
  type Json,
  type ListedCluster,
  type LogBudget,
  type Observation,
} from "../driver.ts";
import type { StatusObject } from "../hub/conditions.ts";
import { Discovery } from "../hub/discovery.ts";
import type { HubApi } from "../hub/hub-api.ts";
import { namespaceKind } from "../hub/kind.ts";
import { collect } from "../hub/logs.ts";
import { type RenderedObject, renderObjects, type TemplateObject } from "../hub/manifest.ts";
import type { Owner } from "../hub/ownership.ts";
import { HubParts } from "../hub/parts.ts";
import { destroying } from "../namespace/namespace-driver.ts";
import type { SecretMask } from "../secret-mask.ts";
import { Deployments } from "./deployments.ts";
import { type ClusterDeployment, deploymentKind } from "./objects.ts";
import { tagged } from "./tagged.ts";

export interface DeploymentSettings {
  readonly owner: Owner;
  readonly objects: readonly TemplateObject[];
  readonly credentials: Readonly<Record<string, string>>;
  readonly hibernates: boolean;
}

export class HiveDeploymentDriver implements Driver {
  readonly capabilities: Capabilities;
  readonly #settings: DeploymentSettings;
  readonly #mask: SecretMask;
  readonly #parts: HubParts;
  readonly #kinds: Discovery;
  readonly #deployments: Deployments;

  constructor(hub: HubApi, settings: DeploymentSettings, mask: SecretMask) {
    this.capabilities = { hibernates: settings.hibernates, mintsAccess: false };
    this.#settings = settings;
    this.#mask = mask;
    this.#parts = new HubParts(hub, settings.owner);
    this.#kinds = new Discovery(hub);
    this.#deployments = new Deployments(hub, mask);
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    const { name } = spec;
    const { objects, credentials, owner } = this.#settings;
    const values = { namespace: name, credentials };
    const rendered = renderObjects(objects, spec, values).map((each) => tagged(each, spec, owner));
    await this.#parts.createOrAdopt(namespaceKind, { metadata: { name } }, spec, { signal });
    const within = { namespace: name, signal };
    const isCluster = ({ kind }: RenderedObject) => kind === deploymentKind.kind;
    for (const each of rendered.filter((object) => !isCluster(object))) {
      const kind = await this.#kinds.kindOf(each.apiVersion, each.kind, signal);
      await this.#parts.createOrAdopt(kind, each, spec, within);
    }
    for (const each of rendered.filter(isCluster)) {
      await this.#parts.createOrAdopt(deploymentKind, each, spec, within);
    }
    return { namespace: name };
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const namespace = await this.#namespace(ref, signal);
    if (namespace === undefined) return { phase: "absent" };
    if (namespace.metadata.deletionTimestamp !== undefined) return destroying(namespace);
    const found = await this.#deployments.find(ref.name, signal);
    if (found !== undefined) {
      const seen = await this.#deployments.phase(found, signal);
      return seen.phase === "destroying"
        ? this.#deployments.destroying(found, ref.name, signal)
        : seen;
    }
    if (await this.#deployments.isDeprovisioning(ref.name, signal)) {
      return this.#deployments.destroying(undefined, ref.name, signal);
    }
    // With a handle, it was complete once.
    if (ref.handle !== undefined) return { phase: "failed", message: gone(ref) };
    return { phase: "creating", message: "The namespace is being set up" };
  }

  async credentials(ref: ClusterRef, { signal }: CallOptions = {}): Promise<AccessBundle> {
    const found = await this.#cluster(ref, signal);
    if (found === undefined) throw new Absent(gone(ref));
    return this.#deployments.access(found, signal);
  }

  async hibernate(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    this.#mustHibernate();
    await this.#deployments.setPower(await this.#cluster(ref, signal), "Hibernating", signal);
  }

  async resume(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    this.#mustHibernate();
    await this.#deployments.setPower(await this.#cluster(ref, signal), "Running", signal);
  }

  async destroy(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    const namespace = await this.#namespace(ref, signal);
    if (namespace === undefined) return;
    const found = await this.#deployments.find(ref.name, signal);
    if (found !== undefined) {
      await this.#parts.remove([{ kind: deploymentKind, object: found }], signal);
      return;
    }
    if (await this.#deployments.isDeprovisioning(ref.name, signal)) return;
    await this.#parts.remove([{ kind: namespaceKind, object: namespace }], signal);
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], { signal }: CallOptions = {}): Promise<void> {
    return this.#parts.mark(deploymentKind, ref, tags, { namespace: ref.name, signal });
  }

  list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    return this.#parts.list([namespaceKind], { signal });
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    if ((await this.#namespace(ref, signal)) === undefined) return "";
    const sources = this.#deployments.evidence(ref.name, signal);
    return this.#mask.clean(await collect(sources, budget));
  }

  #namespace(ref: ClusterRef, signal?: AbortSignal): Promise<StatusObject | undefined> {
    return this.#parts.find<StatusObject>(namespaceKind, ref, { signal });
  }

  async #cluster(ref: ClusterRef, signal?: AbortSignal): Promise<ClusterDeployment | undefined> {
    if ((await this.#namespace(ref, signal)) === undefined) return undefined;
    return this.#deployments.find(ref.name, signal);
  }

  #mustHibernate(): void {
    if (!this.capabilities.hibernates) {
      throw new Hopeless("Cannot stop or wake the cluster: its template says hibernates: false");
    }
  }
}

function gone({ name }: ClusterRef): string {
  return `There is no ClusterDeployment ${name} of this instance`;
}
