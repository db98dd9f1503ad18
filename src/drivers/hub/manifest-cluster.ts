/**
 * A cluster that is one object of a hub, with others beside it in the same namespace: Secrets that it
 * refers to, pools of nodes. The others are made first and removed last: with the main object the
 * cluster is complete, and without it nothing costs money.
 */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import type { ClusterRef, ClusterSpec, Json, ListedCluster, Observation } from "../driver.ts";
import { Discovery } from "./discovery.ts";
import type { HubApi } from "./hub-api.ts";
import { apiVersionOf, type Kind } from "./kind.ts";
import { type RenderedObject, renderObjects, type TemplateObject } from "./manifest.ts";
import type { Owner } from "./ownership.ts";
import { HubParts, namesOf, type Part } from "./parts.ts";
import { waitingFor } from "./waiting-for.ts";

export interface ManifestSettings {
  readonly owner: Owner;
  readonly namespace: string;
  readonly objects: readonly TemplateObject[];
  readonly credentials: Readonly<Record<string, string>>;
}

export class ManifestCluster {
  readonly parts: HubParts;
  readonly #settings: ManifestSettings;
  readonly #main: Kind;
  readonly #kinds: Discovery;

  constructor(hub: HubApi, settings: ManifestSettings, main: Kind) {
    this.parts = new HubParts(hub, settings.owner);
    this.#settings = settings;
    this.#main = main;
    this.#kinds = new Discovery(hub);
  }

  render(spec: ClusterSpec): readonly RenderedObject[] {
    const { objects, namespace, credentials } = this.#settings;
    return renderObjects(objects, spec, { namespace, credentials });
  }

  isMain({ kind }: RenderedObject): boolean {
    return kind === this.#main.kind;
  }

  /** How many objects of a kind the template makes for each cluster. */
  count(kind: string): number {
    return this.#settings.objects.filter((each) => each["kind"] === kind).length;
  }

  async create(
    spec: ClusterSpec,
    rendered: readonly RenderedObject[],
    signal?: AbortSignal,
  ): Promise<Json> {
    const { namespace } = this.#settings;
    const within = { namespace, signal };
    await this.parts.mustBeFree(this.#main, spec, within);
    for (const each of rendered.filter((object) => !this.isMain(object))) {
      const kind = await this.#kinds.kindOf(each.apiVersion, each.kind, signal);
      await this.parts.createOrAdopt(kind, each, spec, within);
    }
    for (const each of rendered.filter((object) => this.isMain(object))) {
      await this.parts.createOrAdopt(this.#main, each, spec, within);
    }
    return { namespace, name: spec.name };
  }

  find<Found extends KubeObject>(ref: ClusterRef, signal?: AbortSignal) {
    const { namespace } = this.#settings;
    return this.parts.find<Found>(this.#main, ref, { namespace, signal });
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], signal?: AbortSignal): Promise<void> {
    const { namespace } = this.#settings;
    return this.parts.mark(this.#main, ref, tags, { namespace, signal });
  }

  /** What there is beside the main object. */
  async others(ref: ClusterRef, signal?: AbortSignal): Promise<readonly Part[]> {
    const { namespace } = this.#settings;
    return this.parts.ofCluster(await this.#otherKinds(signal), ref, { namespace, signal });
  }

  /** `running` is what the back end has of the cluster although the main object is gone. */
  withoutMain(
    ref: ClusterRef,
    others: readonly Part[],
    running: readonly string[] = [],
  ): Observation {
    const going = others.filter(({ object }) => object.metadata.deletionTimestamp !== undefined);
    const blocking = [
      ...running,
      ...going.map(({ kind, object }) => waitingFor(kind.kind, object)),
    ];
    if (blocking.length > 0) return { phase: "destroying", message: blocking.join("; "), blocking };
    if (others.length === 0) return { phase: "absent" };
    // With a handle, it was complete once.
    if (ref.handle === undefined) return { phase: "creating", message: "It is being set up" };
    const left = namesOf(others).join(", ");
    return { phase: "failed", message: `Its ${this.#main.kind} is gone; ${left} are left` };
  }

  async list(signal?: AbortSignal): Promise<readonly ListedCluster[]> {
    const { namespace } = this.#settings;
    const kinds = [this.#main, ...(await this.#otherKinds(signal))];
    return this.parts.list(kinds, { namespace, signal });
  }

  async #otherKinds(signal?: AbortSignal): Promise<readonly Kind[]> {
    const found = new Map<string, Kind>();
    for (const { apiVersion, kind } of this.#settings.objects) {
      if (kind === this.#main.kind) continue;
      const served = await this.#kinds.kindOf(String(apiVersion), String(kind), signal);
      found.set(`${apiVersionOf(served)} ${served.kind}`, served);
    }
    return [...found.values()];
  }
}
