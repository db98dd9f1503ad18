import type { ApiServer } from "./api-server.ts";
import { isNotFound } from "./errors.ts";
import type { KubeList, LeaseObject } from "./kube-objects.ts";

interface Options {
  readonly signal?: AbortSignal | undefined;
  readonly answerMs?: number | undefined;
}

/**
 * The Leases of one namespace. Every change states the version it expects, and fails on another
 * one.
 */
export class LeaseStore {
  readonly api: ApiServer;
  readonly namespace: string;
  /** Limits list and watch to Leases with these labels; undefined: all. */
  readonly labelSelector: string | undefined;

  constructor(api: ApiServer, namespace: string, labelSelector?: string) {
    this.api = api;
    this.namespace = namespace;
    this.labelSelector = labelSelector;
  }

  get path(): readonly string[] {
    return ["apis", "coordination.k8s.io", "v1", "namespaces", this.namespace, "leases"];
  }

  list(options?: Options): Promise<KubeList<LeaseObject>> {
    const { path, labelSelector } = this;
    return this.api.call({ path, query: { labelSelector }, ...options });
  }

  /** Returns undefined if the server reports that it does not exist. */
  async get(name: string, options?: Options): Promise<LeaseObject | undefined> {
    try {
      return await this.api.call<LeaseObject>({ path: [...this.path, name], ...options });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Fails with a conflict if the name exists. If several clients try, one succeeds. */
  create(lease: LeaseObject, options?: Options): Promise<LeaseObject> {
    return this.api.call({ method: "POST", path: this.path, body: lease, ...options });
  }

  /** Fails with a conflict unless the object still has the UID and the version that were read. */
  replace(lease: LeaseObject, options?: Options): Promise<LeaseObject> {
    const path = [...this.path, lease.metadata.name];
    return this.api.call({ method: "PUT", path, body: mustBeKnown(lease), ...options });
  }

  /** Like `replace`. For a ticket the UID is enough, because it has only one version. */
  async remove(lease: LeaseObject, options?: Options): Promise<void> {
    const { name, uid, resourceVersion } = mustBeKnown(lease).metadata;
    const body = { preconditions: { uid, resourceVersion } };
    await this.api.call({ method: "DELETE", path: [...this.path, name], body, ...options });
  }
}

/** Without UID and version, the server would change any object with this name. */
function mustBeKnown(lease: LeaseObject): LeaseObject {
  const { name, uid, resourceVersion } = lease.metadata;
  if (uid !== undefined && resourceVersion !== undefined) return lease;
  throw new TypeError(`Cannot change Lease ${name}: it was not read from the server`);
}
