/** The objects of a cluster on a hub: made or adopted one by one, found again by labels, removed. */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import {
  type ClusterRef,
  type ClusterSpec,
  Conflict,
  type ListedCluster,
  Retry,
} from "../driver.ts";
import type { HubApi, Within } from "./hub-api.ts";
import { apiVersionOf, type Kind } from "./kind.ts";
import type { RenderedObject } from "./manifest.ts";
import {
  instanceOf,
  labelsOf,
  mustBeSame,
  type Owner,
  ofBroker,
  ofCluster,
  ownedMetadata,
} from "./ownership.ts";

/** Something on the hub that belongs to a cluster. */
export interface Part {
  readonly kind: Kind;
  readonly object: KubeObject;
}

export class HubParts {
  readonly #hub: HubApi;
  readonly #owner: Owner;

  constructor(hub: HubApi, owner: Owner) {
    this.#hub = hub;
    this.#owner = owner;
  }

  /** Undefined also if what has the name belongs to another instance, or to somebody else. */
  async find<Found extends KubeObject>(
    kind: Kind,
    ref: ClusterRef,
    within: Within = {},
  ): Promise<Found | undefined> {
    const found = await this.#hub.find<Found>(kind, ref.name, within);
    return found !== undefined && instanceOf(found) === ref.instance ? found : undefined;
  }

  /** Rejects if the name is taken, before anything is made. */
  async mustBeFree(kind: Kind, spec: ClusterSpec, within: Within): Promise<void> {
    const found = await this.#hub.find(kind, spec.name, within);
    if (found !== undefined) mustBeSame(found, spec, `${kind.kind} ${spec.name}`);
  }

  /** Makes the object, or takes over the one that an earlier call has made for the same cluster. */
  async createOrAdopt<Made extends KubeObject>(
    kind: Kind,
    object: Pick<RenderedObject, "metadata"> & object,
    spec: ClusterSpec,
    within: Within,
  ): Promise<Made> {
    const { namespace, signal } = within;
    const { name, labels = {}, annotations = {} } = object.metadata;
    const metadata = { name, ...ownedMetadata(spec, this.#owner, { labels, annotations }) };
    const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
    try {
      return await this.#hub.create<Made>(kind, body, { namespace, signal });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    const found = await this.#hub.find<Made>(kind, name, { namespace, signal });
    if (found === undefined) throw new Retry(`${kind.kind} ${name} has just been deleted`);
    mustBeSame(found, spec, `${kind.kind} ${name}`);
    return found;
  }

  /** Writes labels on the object that is the cluster, if it is there and does not have them. */
  async mark(
    kind: Kind,
    ref: ClusterRef,
    tags: ClusterSpec["tags"],
    within: Within,
  ): Promise<void> {
    const found = await this.find(kind, ref, within);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    const labels = labelsOf(tags);
    const has = found.metadata.labels ?? {};
    if (Object.entries(labels).every(([key, value]) => has[key] === value)) return;
    await this.#hub.patch(kind, found, { metadata: { labels } }, { signal: within.signal });
  }

  /** What there is of a cluster, of the given kinds. */
  async ofCluster(
    kinds: readonly Kind[],
    ref: ClusterRef,
    within: Within = {},
  ): Promise<readonly Part[]> {
    const labels = ofCluster(ref.name);
    const found: Part[] = [];
    for (const kind of kinds) {
      for (const object of await this.#hub.list(kind, { ...within, labels })) {
        if (instanceOf(object) === ref.instance) found.push({ kind, object });
      }
    }
    return found;
  }

  async remove(parts: readonly Part[], signal?: AbortSignal): Promise<void> {
    for (const { kind, object } of parts) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      await this.#hub.remove(kind, object, { signal });
    }
  }

  /** All clusters of this installation of which at least one object of these kinds exists. */
  async list(kinds: readonly Kind[], within: Within = {}): Promise<readonly ListedCluster[]> {
    const found = new Map<string, ListedCluster>();
    for (const kind of kinds) {
      const objects = await this.#hub.list(kind, { ...within, labels: ofBroker(this.#owner) });
      for (const object of objects) {
        const { labels = {}, name, creationTimestamp: createdAt = "" } = object.metadata;
        const instance = instanceOf(object);
        if (instance === undefined || found.has(instance)) continue;
        found.set(instance, { name: labels["berth/name"] ?? name, instance, createdAt });
      }
    }
    return [...found.values()];
  }
}

/** `Secret berth-1, Secret berth-2`, for people. */
export function namesOf(parts: readonly Part[]): readonly string[] {
  return parts.map(({ kind, object }) => `${kind.kind} ${object.metadata.name}`);
}
