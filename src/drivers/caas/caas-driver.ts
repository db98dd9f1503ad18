/**
 * Clusters of the operator of cluster templates, through its ClusterTemplateInstances. The operator lets
 * go of an instance before its cluster is gone. So what belongs to it is written down in a ConfigMap of
 * the same name before the instance is deleted, and the ConfigMap goes last.
 */
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import {
  Absent,
  type AccessBundle,
  type CallOptions,
  type ClusterRef,
  type ClusterSpec,
  Conflict,
  type Driver,
  Hopeless,
  type Json,
  type ListedCluster,
  type LogBudget,
  type Observation,
  Retry,
} from "../driver.ts";
import { readAccess } from "../hub/access.ts";
import type { HubApi } from "../hub/hub-api.ts";
import { configMapKind } from "../hub/kind.ts";
import { collect, conditionsText } from "../hub/logs.ts";
import type { Owner } from "../hub/ownership.ts";
import { HubParts } from "../hub/parts.ts";
import { waitingFor } from "../hub/waiting-for.ts";
import type { SecretMask } from "../secret-mask.ts";
import { instancePhase } from "./instance-phase.ts";
import { type ClusterTemplateInstance, instanceKind } from "./objects.ts";
import { type Belonging, Remains } from "./remains.ts";

export interface CaasSettings {
  readonly owner: Owner;
  readonly namespace: string;
  readonly clusterTemplate: string;
  readonly argoNamespace: string;
}

interface RecordObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The key of the ConfigMap. */
const belongingsKey = "belongings";

export class CaasDriver implements Driver {
  readonly capabilities = { hibernates: false, mintsAccess: false };
  readonly #hub: HubApi;
  readonly #settings: CaasSettings;
  readonly #mask: SecretMask;
  readonly #parts: HubParts;
  readonly #remains: Remains;

  constructor(hub: HubApi, settings: CaasSettings, mask: SecretMask) {
    this.#hub = hub;
    this.#settings = settings;
    this.#mask = mask;
    this.#parts = new HubParts(hub, settings.owner);
    this.#remains = new Remains(hub, settings);
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    const { namespace, clusterTemplate: clusterTemplateRef } = this.#settings;
    const parameters = Object.entries(spec.parameters).map(([name, value]) => {
      return { name, value: String(value) };
    });
    const body = { metadata: { name: spec.name }, spec: { clusterTemplateRef, parameters } };
    await this.#parts.createOrAdopt(instanceKind, body, spec, { namespace, signal });
    return { namespace, name: spec.name };
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const found = await this.#find(ref, signal);
    if (found !== undefined && found.metadata.deletionTimestamp === undefined) {
      const { clock } = await this.#hub.connected();
      return instancePhase(found, clock.atLeastMs());
    }
    const going = found === undefined ? [] : [waitingFor("ClusterTemplateInstance", found)];
    const record = await this.#record(ref, signal);
    if (found === undefined && record === undefined && (await this.#isTaken(ref, signal))) {
      return { phase: "absent" };
    }
    const left = await this.#remains.of(ref, record === undefined ? [] : written(record), signal);
    const blocking = [...going, ...left];
    if (blocking.length > 0) return { phase: "destroying", message: blocking.join("; "), blocking };
    if (record === undefined) return { phase: "absent" };
    return { phase: "failed", message: "Only the record of its destruction is left" };
  }

  async credentials(ref: ClusterRef, { signal }: CallOptions = {}): Promise<AccessBundle> {
    const found = await this.#find(ref, signal);
    const kubeconfig = found?.status?.kubeconfig?.name;
    if (kubeconfig === undefined) {
      const what = `ClusterTemplateInstance ${ref.name}`;
      throw new Absent(`There is no ${what} of this instance with access`);
    }
    const secrets = {
      kubeconfig,
      keys: ["kubeconfig"],
      password: found?.status?.adminPassword?.name,
    };
    const { namespace } = this.#settings;
    return readAccess(this.#hub, this.#mask, secrets, { namespace, signal });
  }

  async hibernate(): Promise<void> {
    throw new Hopeless("Cannot hibernate the cluster: the operator of cluster templates cannot");
  }

  async resume(): Promise<void> {
    throw new Hopeless("Cannot resume the cluster: the operator of cluster templates cannot");
  }

  async destroy(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    const found = await this.#find(ref, signal);
    if (found !== undefined) {
      await this.#write(ref, found, signal);
      await this.#parts.remove([{ kind: instanceKind, object: found }], signal);
      return;
    }
    const record = await this.#record(ref, signal);
    if (record === undefined) return;
    if ((await this.#remains.of(ref, written(record), signal)).length > 0) return;
    await this.#parts.remove([{ kind: configMapKind, object: record }], signal);
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], { signal }: CallOptions = {}): Promise<void> {
    const { namespace } = this.#settings;
    return this.#parts.mark(instanceKind, ref, tags, { namespace, signal });
  }

  list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    const { namespace } = this.#settings;
    return this.#parts.list([instanceKind, configMapKind], { namespace, signal });
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    const found = await this.#find(ref, signal);
    if (found === undefined) return "";
    const { phase = "", message = "" } = found.status ?? {};
    const sources = [
      async () => (await this.#remains.applications(ref, signal)).map(conditionsText).join("\n"),
      async () => conditionsText({ kind: "ClusterTemplateInstance", ...found }),
      async () => `${phase}: ${message}`,
    ];
    return this.#mask.clean(await collect(sources, budget));
  }

  /** Durable before the instance goes: afterwards nobody can tell what belonged to it. */
  async #write(
    ref: ClusterRef,
    found: ClusterTemplateInstance,
    signal?: AbortSignal,
  ): Promise<void> {
    const known = await this.#record(ref, signal);
    const now = await this.#remains.belongings(ref, signal);
    const all = known === undefined ? now : merged(written(known), now);
    const data = { [belongingsKey]: JSON.stringify(all) };
    if (known !== undefined) {
      if (known.data?.[belongingsKey] === data[belongingsKey]) return;
      await this.#hub.patch(configMapKind, known, { data }, { signal });
      return;
    }
    const { labels = {}, annotations = {} } = found.metadata;
    const metadata = { name: ref.name, labels, annotations };
    const { namespace } = this.#settings;
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
    await this.#hub.create(configMapKind, body, { namespace, signal }).catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error;
      // It was made at the same time, or belongs to somebody else, who has to remove it.
      const what = `ConfigMap ${ref.name} of namespace ${namespace}`;
      throw new Retry(`Cannot write down what belongs to the cluster: ${what} exists`);
    });
  }

  #find(ref: ClusterRef, signal?: AbortSignal): Promise<ClusterTemplateInstance | undefined> {
    const { namespace } = this.#settings;
    return this.#parts.find<ClusterTemplateInstance>(instanceKind, ref, { namespace, signal });
  }

  /** The operator's objects are known by the name alone: they are those of whoever has it now. */
  async #isTaken(ref: ClusterRef, signal?: AbortSignal): Promise<boolean> {
    const { namespace } = this.#settings;
    const other = await this.#hub.find(instanceKind, ref.name, { namespace, signal });
    return other !== undefined;
  }

  #record(ref: ClusterRef, signal?: AbortSignal): Promise<RecordObject | undefined> {
    const { namespace } = this.#settings;
    return this.#parts.find<RecordObject>(configMapKind, ref, { namespace, signal });
  }
}

function written({ data }: RecordObject): readonly Belonging[] {
  return JSON.parse(data?.[belongingsKey] ?? "[]") as readonly Belonging[];
}

function merged(one: readonly Belonging[], other: readonly Belonging[]): readonly Belonging[] {
  const all = [...one, ...other].map((each) => [JSON.stringify(each), each] as const);
  return [...new Map(all).values()];
}
