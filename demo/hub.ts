/**
 * A hub of the demo: as much of the API of HyperShift as the driver and the probes use, in memory. Its clusters are ready
 * after twenty seconds and run nowhere. So the demo shows hubs also where no API server is installed.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface HubObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
  readonly status?: object;
}

type Answer = readonly [status: number, body: object];

const group = "hypershift.openshift.io";
const version = "v1beta1";
const namespace = "clusters";
/** Each condition becomes true so long after the one before it. */
const stepMs = 4_000;
const steps = [
  ...["ValidConfiguration", "InfrastructureReady", "EtcdAvailable", "KubeAPIServerAvailable"],
  "Available",
];
const destroyMs = 6_000;
const hourMs = 3_600_000;

export interface HubOptions {
  readonly name: string;
  readonly versions: readonly string[];
  /** Clusters that others have made: `name owner hours`. */
  readonly others: readonly string[];
}

export class DemoHub implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: HubOptions;
  /** By plural and name. */
  readonly #objects = new Map<string, HubObject>();
  #version = 0;

  private constructor(options: HubOptions) {
    this.#options = options;
    for (const other of options.others)
      this.#addOther(...(other.split(" ") as [string, string, string]));
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: HubOptions): Promise<DemoHub> {
    const hub = new DemoHub(options);
    await new Promise<void>((resolve) => void hub.#server.listen(0, "127.0.0.1", resolve));
    return hub;
  }

  get name(): string {
    return this.#options.name;
  }

  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    return kubeconfigOf(this.name, `http://127.0.0.1:${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  #addOther(name: string, owner: string, hours: string): void {
    const creationTimestamp = timeOf(Date.now() - Number(hours) * hourMs);
    const metadata = { name, namespace, labels: { owner }, creationTimestamp };
    this.#put("hostedclusters", { metadata: { ...metadata, uid: randomUUID() } });
  }

  #put(plural: string, object: object): HubObject {
    const { metadata } = object as HubObject;
    this.#version += 1;
    const made = { ...object, metadata: { ...metadata, resourceVersion: String(this.#version) } };
    this.#objects.set(`${plural}/${metadata.name}`, made);
    return made;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://hub.invalid");
    const body = await text(request).catch(() => "");
    const path = pathname.split("/").filter((part) => part !== "");
    const [status, answer] = this.#answer(request.method ?? "GET", path, {
      body: JSON.parse(body || "{}") as HubObject,
      selector: searchParams.get("labelSelector") ?? "",
    });
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  }

  #answer(
    method: string,
    path: readonly string[],
    { body, selector }: { readonly body: HubObject; readonly selector: string },
  ): Answer {
    this.#removeDestroyed();
    if (path.join("/") === "apis") {
      return [200, { groups: [{ name: group, preferredVersion: { version } }] }];
    }
    if (path[0] === "api") return this.#core(path);
    const [, name, , ...rest] = path;
    if (name !== group) return notFound(name);
    if (rest.length === 0) return [200, { resources }];
    const [plural = "", object] = rest[0] === "namespaces" ? rest.slice(2) : rest;
    if (object === undefined) {
      return method === "POST" ? this.#create(plural, body) : [200, this.#list(plural, selector)];
    }
    const found = this.#objects.get(`${plural}/${object}`);
    if (found === undefined) return notFound(object);
    if (method === "PATCH")
      return [200, shown(this.#put(plural, merged(found, body) as HubObject))];
    return method === "DELETE" ? this.#delete(plural, found) : [200, shown(found)];
  }

  /** The versions that the hub makes, and the access to its clusters. */
  #core(path: readonly string[]): Answer {
    const [, , , , plural, name = ""] = path;
    if (plural === "configmaps" && name === "supported-versions") {
      return [200, { data: { [name]: JSON.stringify({ versions: this.#options.versions }) } }];
    }
    const cluster = name.replace(/-admin-kubeconfig$/, "");
    if (plural !== "secrets" || !this.#objects.has(`hostedclusters/${cluster}`)) {
      return notFound(path.at(-1));
    }
    const kubeconfig = kubeconfigOf(cluster, `https://api.${cluster}.demo.invalid:6443`);
    return [200, { data: { kubeconfig: Buffer.from(kubeconfig).toString("base64") } }];
  }

  #list(plural: string, selector: string): object {
    const wanted = selector.split(",").filter((part) => part.includes("="));
    const items = [...this.#objects]
      .filter(([key]) => key.startsWith(`${plural}/`))
      .map(([, object]) => shown(object))
      .filter(({ metadata: { labels = {} } }) =>
        wanted.every((part) => {
          const [key = "", value] = part.split("=");
          return labels[key] === value;
        }),
      );
    return { metadata: { resourceVersion: String(this.#version) }, items };
  }

  #create(plural: string, body: HubObject): Answer {
    if (this.#objects.has(`${plural}/${body.metadata.name}`)) {
      return [409, { ...failure, reason: "AlreadyExists", code: 409 }];
    }
    const made = { namespace, uid: randomUUID(), creationTimestamp: timeOf(Date.now()) };
    return [201, shown(this.#put(plural, { ...body, metadata: { ...body.metadata, ...made } }))];
  }

  #delete(plural: string, found: HubObject): Answer {
    const deletionTimestamp = found.metadata.deletionTimestamp ?? timeOf(Date.now());
    const metadata = { ...found.metadata, deletionTimestamp };
    return [200, shown(this.#put(plural, { ...found, metadata }))];
  }

  /** A HostedCluster goes with its NodePools. */
  #removeDestroyed(): void {
    for (const [key, { metadata }] of this.#objects) {
      const { deletionTimestamp, annotations } = metadata;
      if (Date.now() - Date.parse(deletionTimestamp ?? "") < destroyMs) continue;
      if (deletionTimestamp === undefined) continue;
      this.#objects.delete(key);
      const instance = annotations?.["berth/instance"];
      for (const [other, object] of this.#objects) {
        const isOf = object.metadata.annotations?.["berth/instance"] === instance;
        if (isOf && other.startsWith("nodepools/")) this.#objects.delete(other);
      }
    }
  }
}

const failure = { kind: "Status", apiVersion: "v1", status: "Failure" };

function notFound(name = ""): Answer {
  const message = `"${name}" not found`;
  return [404, { ...failure, reason: "NotFound", code: 404, message }];
}

const resources = [
  { name: "hostedclusters", kind: "HostedCluster", namespaced: true },
  { name: "nodepools", kind: "NodePool", namespaced: true },
];

/** As it is now: its conditions follow from its age. */
function shown(object: HubObject): HubObject {
  const { name, creationTimestamp } = object.metadata;
  const bornAt = Date.parse(creationTimestamp);
  const conditions = steps.map((type, at) => {
    const trueAt = bornAt + (at + 1) * stepMs;
    const isTrue = Date.now() >= trueAt;
    return {
      ...{ type, status: isTrue ? "True" : "False", reason: isTrue ? "AsExpected" : "Waiting" },
      message: "",
      lastTransitionTime: timeOf(isTrue ? trueAt : bornAt),
    };
  });
  const isAvailable = conditions.at(-1)?.status === "True";
  const status = {
    conditions: [...conditions, { ...conditions.at(-1), type: "Ready" }],
    ...(isAvailable && {
      kubeconfig: { name: `${name}-admin-kubeconfig` },
      controlPlaneEndpoint: { host: `api.${name}.demo.invalid`, port: 6443 },
    }),
  };
  return { ...object, status };
}

/** A JSON merge patch, RFC 7396. */
function merged(found: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const result = new Map(Object.entries(Object(found) as object));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merged(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** Kubernetes writes no fractions of a second. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, "");
}

function kubeconfigOf(name: string, server: string): string {
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    // The client refuses plain HTTP otherwise.
    clusters: [{ name, cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
