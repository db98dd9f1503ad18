/**
 * Lends namespaces of an existing API server as if they were clusters: with a quota, a network policy
 * and an account whose rights end at the namespace. Real, small, made in a second, and for many tests
 * all they need.
 */
import type { ApiServer } from "../../kubernetes/api-server.ts";
import type { KubeList, KubeObject } from "../../kubernetes/kube-objects.ts";
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
import { HubApi } from "../hub/hub-api.ts";
import { namespaceKind as namespaces } from "../hub/kind.ts";
import { brokerLabel, instanceOf, labelValue, mustBeSame, type Owner } from "../hub/ownership.ts";
import { HubParts } from "../hub/parts.ts";
import { noMask, type SecretMask } from "../secret-mask.ts";
import { namespaceKubeconfig } from "./kubeconfig.ts";
import { namespaceLogs } from "./logs.ts";
import {
  accountKind,
  bindingKind,
  type NamespaceObject,
  namespaceOf,
  partName,
  partsOf,
  type Quota,
  templateLabel,
} from "./objects.ts";

export interface NamespaceSettings {
  /** Opens the API server. Called again after a failure, because its credentials may change. */
  readonly connect: () => Promise<ApiServer>;
  readonly quota: Quota;
  readonly owner: Owner;
}

/** The shortest that the API server grants. */
const tokenSecondsMin = 600;
const tokenSecondsDefault = 3_600;
const logLinesMax = 500;

export class NamespaceDriver implements Driver {
  readonly capabilities = { hibernates: false, mintsAccess: true };
  readonly #hub: HubApi;
  readonly #quota: Quota;
  readonly #owner: Owner;
  readonly #parts: HubParts;
  readonly #mask: SecretMask;

  constructor({ connect, quota, owner }: NamespaceSettings, mask: SecretMask = noMask) {
    this.#hub = new HubApi(connect, mask);
    this.#quota = quota;
    this.#owner = owner;
    this.#parts = new HubParts(this.#hub, owner);
    this.#mask = mask;
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    const made = await this.#createOrAdopt(spec, signal);
    for (const { kind, body } of partsOf(spec.name, this.#quotaFor(spec))) {
      const within = { namespace: spec.name, signal };
      await this.#hub.create<KubeObject>(kind, body, within).catch(unlessConflict);
    }
    return { uid: made.metadata.uid ?? "" };
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const found = await this.#find(ref, signal);
    if (found === undefined) return { phase: "absent" };
    if (found.metadata.deletionTimestamp !== undefined) return destroying(found);
    // The last part that is made: with it, all of them are there.
    const binding = await this.#hub.find(bindingKind, partName, { namespace: ref.name, signal });
    if (binding === undefined)
      return { phase: "creating", message: "The namespace is being set up" };
    return { phase: "ready", apiUrl: (await this.#hub.connected()).url };
  }

  async credentials(
    ref: ClusterRef,
    { signal, until }: CallOptions & { until?: Date } = {},
  ): Promise<AccessBundle> {
    if ((await this.#find(ref, signal)) === undefined) throw absent(ref);
    const wanted = until === undefined ? tokenSecondsDefault : secondsUntil(until);
    const path = ["api", "v1", "namespaces", ref.name, accountKind.plural, partName, "token"];
    const body = { spec: { expirationSeconds: Math.max(tokenSecondsMin, wanted) } };
    const { status } = await this.#hub.call<TokenReply>({ method: "POST", path, body, signal });
    this.#mask.register(status.token);
    const server = await (await this.#hub.connected()).address();
    const kubeconfig = namespaceKubeconfig({ server, namespace: ref.name, token: status.token });
    this.#mask.registerDocument(kubeconfig);
    return { kubeconfig, expiresAt: status.expirationTimestamp };
  }

  async hibernate(): Promise<void> {
    throw new Hopeless("Cannot hibernate a namespace: it has nothing that could be stopped");
  }

  async resume(): Promise<void> {
    throw new Hopeless("Cannot resume a namespace: it never hibernates");
  }

  async destroy(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    const found = await this.#find(ref, signal);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
    await this.#hub.remove(namespaces, found, { signal });
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], { signal }: CallOptions = {}): Promise<void> {
    return this.#parts.mark(namespaces, ref, tags, { signal });
  }

  async list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    const found = await this.#hub.list<NamespaceObject>(namespaces, {
      labels: templateLabel,
      signal,
    });
    const broker = labelValue(this.#owner.broker);
    return found.flatMap((each) => {
      const { name, labels = {}, creationTimestamp: createdAt = "" } = each.metadata;
      // Those that an older version has made do not say whose they are.
      if ((labels[brokerLabel] ?? broker) !== broker) return [];
      const instance = instanceOf(each);
      return instance === undefined ? [] : [{ name, instance, createdAt }];
    });
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    if ((await this.#find(ref, signal)) === undefined) return "";
    const get = <Item>(path: readonly string[], answerMs: number) =>
      this.#hub.call<KubeList<Item>>({ path, query: { limit: logLinesMax }, signal, answerMs });
    return this.#mask.clean(await namespaceLogs(ref.name, budget, get));
  }

  #quotaFor({ parameters }: ClusterSpec): Quota {
    const asked = Object.entries(parameters).map(([key, value]) => [key, String(value)]);
    return { ...this.#quota, ...Object.fromEntries(asked) };
  }

  async #createOrAdopt(spec: ClusterSpec, signal?: AbortSignal): Promise<NamespaceObject> {
    try {
      const body = namespaceOf(spec, this.#owner);
      return await this.#hub.create<NamespaceObject>(namespaces, body, { signal });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    const found = await this.#hub.find<NamespaceObject>(namespaces, spec.name, { signal });
    if (found === undefined) throw new Retry(`The namespace ${spec.name} has just been deleted`);
    mustBeSame(found, spec, `the namespace ${spec.name}`);
    return found;
  }

  /** Undefined also if the namespace belongs to something else. */
  async #find(ref: ClusterRef, signal?: AbortSignal): Promise<NamespaceObject | undefined> {
    const found = await this.#hub.find<NamespaceObject>(namespaces, ref.name, { signal });
    return found !== undefined && instanceOf(found) === ref.instance ? found : undefined;
  }
}

interface TokenReply {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

function secondsUntil(until: Date): number {
  return Math.floor((until.getTime() - Date.now()) / 1_000);
}

function absent({ name }: ClusterRef): Absent {
  return new Absent(`There is no namespace ${name} of this instance`);
}

/** The part exists: an earlier call made it. */
function unlessConflict(error: unknown): undefined {
  if (error instanceof Conflict) return undefined;
  throw error;
}

/** What the namespace controller says about what it cannot remove. */
export function destroying({ status }: NamespaceObject): Observation {
  const remaining = (status?.conditions ?? [])
    .filter(({ type = "", status: is }) => /Remaining|Failure/.test(type) && is === "True")
    .map(({ type, message }) => message ?? type ?? "");
  return {
    phase: "destroying",
    ...(remaining.length > 0 && { message: remaining.join("; "), blocking: remaining }),
  };
}
