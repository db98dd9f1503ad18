/**
 * Lends namespaces of an existing API server as if they were clusters: with a quota, a network policy
 * and an account whose rights end at the namespace. Real, small, made in a second, and for many tests
 * all they need.
 */
import { Problem } from "../../api/problem.ts";
import { BerthUnreachable } from "../../client/errors.ts";
import type { ApiCall, ApiServer } from "../../kubernetes/api-server.ts";
import { isConflict, NoKubeConfig } from "../../kubernetes/errors.ts";
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
import { noMask, type SecretMask } from "../secret-mask.ts";
import { namespaceKubeconfig } from "./kubeconfig.ts";
import { namespaceLogs } from "./logs.ts";
import {
  instanceKey,
  type NamespaceObject,
  namespaceOf,
  partName,
  partsOf,
  type Quota,
  specHash,
  specKey,
  templateLabel,
} from "./objects.ts";

export interface NamespaceSettings {
  /** Opens the API server. Called again after a failure, because its credentials may change. */
  readonly connect: () => Promise<ApiServer>;
  readonly quota: Quota;
}

/** The shortest that the API server grants. */
const tokenSecondsMin = 600;
const tokenSecondsDefault = 3_600;
const pageSize = 500;

export class NamespaceDriver implements Driver {
  readonly capabilities = { hibernates: false, mintsAccess: true };
  readonly #settings: NamespaceSettings;
  readonly #mask: SecretMask;
  #api: Promise<ApiServer> | undefined;

  constructor(settings: NamespaceSettings, mask: SecretMask = noMask) {
    this.#settings = settings;
    this.#mask = mask;
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    const made = await this.#createOrAdopt(spec, signal);
    for (const { root, plural, body } of partsOf(spec.name, this.#quotaFor(spec))) {
      const path = [...root, "namespaces", spec.name, plural];
      await this.#call<KubeObject>({ method: "POST", path, body, signal }).catch(unlessConflict);
    }
    return { uid: made.metadata.uid ?? "" };
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const found = await this.#find(ref, signal);
    if (found === undefined) return { phase: "absent" };
    if (found.metadata.deletionTimestamp !== undefined) return destroying(found);
    // The last part that is made: with it, all of them are there.
    const path = ["apis", "rbac.authorization.k8s.io", "v1", "namespaces", ref.name];
    const binding = await this.#maybe<KubeObject>([...path, "rolebindings", partName], signal);
    if (binding === undefined)
      return { phase: "creating", message: "The namespace is being set up" };
    return { phase: "ready", apiUrl: (await this.#connected()).url };
  }

  async credentials(
    ref: ClusterRef,
    { signal, until }: CallOptions & { until?: Date } = {},
  ): Promise<AccessBundle> {
    if ((await this.#find(ref, signal)) === undefined) throw absent(ref);
    const wanted = until === undefined ? tokenSecondsDefault : secondsUntil(until);
    const path = ["api", "v1", "namespaces", ref.name, "serviceaccounts", partName, "token"];
    const body = { spec: { expirationSeconds: Math.max(tokenSecondsMin, wanted) } };
    const { status } = await this.#call<TokenReply>({ method: "POST", path, body, signal });
    this.#mask.register(status.token);
    const server = await (await this.#connected()).address();
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
    const path = ["api", "v1", "namespaces", ref.name];
    // Another instance may take the name between these two calls; its object has another uid.
    const body = { preconditions: { uid: found.metadata.uid } };
    try {
      await this.#call<KubeObject>({ method: "DELETE", path, body, signal });
    } catch (error) {
      if (!(error instanceof Absent || error instanceof Conflict)) throw error;
    }
  }

  async list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    const found: ListedCluster[] = [];
    let next: string | undefined;
    do {
      const query = { labelSelector: templateLabel, limit: pageSize, continue: next };
      const path = ["api", "v1", "namespaces"];
      const page = await this.#call<KubeList<NamespaceObject>>({ path, query, signal });
      for (const { metadata } of page.items) {
        const instance = metadata.annotations?.[instanceKey];
        const { name, creationTimestamp: createdAt = "" } = metadata;
        if (instance !== undefined) found.push({ name, instance, createdAt });
      }
      next = page.metadata.continue || undefined;
    } while (next !== undefined);
    return found;
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    if ((await this.#find(ref, signal)) === undefined) return "";
    const get = <Item>(path: readonly string[], answerMs: number) =>
      this.#call<KubeList<Item>>({ path, query: { limit: pageSize }, signal, answerMs });
    return this.#mask.clean(await namespaceLogs(ref.name, budget, get));
  }

  #quotaFor({ parameters }: ClusterSpec): Quota {
    const asked = Object.entries(parameters).map(([key, value]) => [key, String(value)]);
    return { ...this.#settings.quota, ...Object.fromEntries(asked) };
  }

  async #createOrAdopt(spec: ClusterSpec, signal?: AbortSignal): Promise<NamespaceObject> {
    const path = ["api", "v1", "namespaces"];
    try {
      const body = namespaceOf(spec);
      return await this.#call<NamespaceObject>({ method: "POST", path, body, signal });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
    const found = await this.#maybe<NamespaceObject>([...path, spec.name], signal);
    if (found === undefined) throw new Retry(`The namespace ${spec.name} has just been deleted`);
    const { annotations = {}, deletionTimestamp } = found.metadata;
    if (annotations[instanceKey] !== spec.instance) {
      throw new Conflict(`Cannot create the namespace ${spec.name}: it belongs to something else`);
    }
    if (annotations[specKey] !== specHash(spec)) {
      const state = "it exists with another template, revision or parameters";
      throw new Conflict(`Cannot create the namespace ${spec.name}: ${state}`);
    }
    if (deletionTimestamp !== undefined) {
      throw new Hopeless(`Cannot create the namespace ${spec.name}: it is being deleted`);
    }
    return found;
  }

  /** Undefined also if the namespace belongs to something else. */
  async #find(ref: ClusterRef, signal?: AbortSignal): Promise<NamespaceObject | undefined> {
    const found = await this.#maybe<NamespaceObject>(["api", "v1", "namespaces", ref.name], signal);
    return found?.metadata.annotations?.[instanceKey] === ref.instance ? found : undefined;
  }

  async #maybe<Found>(path: readonly string[], signal?: AbortSignal): Promise<Found | undefined> {
    try {
      return await this.#call<Found>({ path, signal });
    } catch (error) {
      if (error instanceof Absent) return undefined;
      throw error;
    }
  }

  async #call<Reply>(call: ApiCall): Promise<Reply> {
    try {
      return await (await this.#connected()).call<Reply>(call);
    } catch (error) {
      call.signal?.throwIfAborted();
      throw this.#asDriverError(error, call);
    }
  }

  #connected(): Promise<ApiServer> {
    this.#api ??= this.#settings.connect();
    return this.#api;
  }

  #asDriverError(error: unknown, call: ApiCall): Error {
    if (isMissing(error, call)) return new Absent(this.#mask.clean(error.message));
    if (isConflict(error)) return new Conflict(this.#mask.clean(error.message));
    this.#api = undefined; // The kubeconfig may have been renewed.
    if (error instanceof Problem && (error.status === 422 || error.status === 400)) {
      return new Hopeless(this.#mask.clean(error.message));
    }
    const known =
      error instanceof Problem ||
      error instanceof BerthUnreachable ||
      error instanceof NoKubeConfig;
    const text = known || error instanceof Error ? error.message : String(error);
    return new Retry(this.#mask.clean(text));
  }
}

interface TokenReply {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

/**
 * The API server says that what the path names does not exist, or its namespace does not. A 404 of a
 * proxy, or for an unknown kind, proves nothing.
 */
function isMissing(error: unknown, { path }: ApiCall): error is Problem {
  if (!(error instanceof Problem) || error.code !== "kubernetes_not_found") return false;
  return path.some((name) => error.message.includes(`"${name}" not found`));
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
function destroying({ status }: NamespaceObject): Observation {
  const remaining = (status?.conditions ?? [])
    .filter(({ type = "", status: is }) => /Remaining|Failure/.test(type) && is === "True")
    .map(({ type, message }) => message ?? type ?? "");
  return {
    phase: "destroying",
    ...(remaining.length > 0 && { message: remaining.join("; "), blocking: remaining }),
  };
}
