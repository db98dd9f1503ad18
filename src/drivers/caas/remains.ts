/** What belongs to a ClusterTemplateInstance elsewhere on the hub, and what of it is still there. */
import type { ClusterRef } from "../driver.ts";
import type { HubApi } from "../hub/hub-api.ts";
import { labelSelector } from "../hub/label-selector.ts";
import { waitingFor } from "../hub/waiting-for.ts";
import {
  type Application,
  applicationKind,
  clusterKinds,
  instanceNameLabel,
  instanceNamespaceLabel,
} from "./objects.ts";

/** A cluster of a back end. */
export interface Belonging {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

interface Places {
  readonly namespace: string;
  readonly argoNamespace: string;
}

export class Remains {
  readonly #hub: HubApi;
  readonly #places: Places;

  constructor(hub: HubApi, places: Places) {
    this.#hub = hub;
    this.#places = places;
  }

  /** Argo CD's, by the exact name and namespace of the instance. */
  applications({ name }: ClusterRef, signal?: AbortSignal): Promise<readonly Application[]> {
    const { namespace, argoNamespace } = this.#places;
    const labels = labelSelector({
      [instanceNameLabel]: name,
      [instanceNamespaceLabel]: namespace,
    });
    return this.#hub.list<Application>(applicationKind, {
      ...{ namespace: argoNamespace, labels, signal },
    });
  }

  /** The clusters that the Applications have made. */
  async belongings(ref: ClusterRef, signal?: AbortSignal): Promise<readonly Belonging[]> {
    const found = await this.applications(ref, signal);
    return found
      .flatMap(({ status }) => status?.resources ?? [])
      .flatMap(({ kind = "", namespace = "", name = "", group = "" }) => {
        const known = clusterKinds.some((each) => each.kind === kind && each.group === group);
        return known ? [{ kind, namespace, name }] : [];
      });
  }

  /** In words. Empty: all is gone, as far as the hub knows. */
  async of(
    ref: ClusterRef,
    belongings: readonly Belonging[],
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const applications = await this.applications(ref, signal);
    const left = applications.map((each) => waitingFor("Application", each));
    for (const { kind, namespace, name } of belongings) {
      const served = clusterKinds.find((each) => each.kind === kind);
      if (served === undefined) continue;
      const found = await this.#hub.find(served, name, { namespace, signal });
      if (found === undefined) continue;
      const isGoing = found.metadata.deletionTimestamp !== undefined;
      left.push(isGoing ? waitingFor(kind, found) : `${kind} ${name} is still there`);
    }
    return left;
  }
}
