/**
 * The cluster that the admission check asks: as much of the Kubernetes API as the check reads. Its
 * machines fill up and get free, and now and then it cannot be reached.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** It is full, then it has room, then it is away; and again. */
const phases = [
  { forMs: 60_000, freeCores: 24 },
  { forMs: 40_000, freeCores: 2 },
  { forMs: 50_000, freeCores: 12 },
  { forMs: 30_000, freeCores: null },
] as const;
const cycleMs = phases.reduce((sum, { forMs }) => sum + forMs, 0);
const nodeCores = 48;

export class ManagementCluster implements AsyncDisposable {
  readonly #server: Server;
  readonly #startedAt = Date.now();

  private constructor() {
    this.#server = createServer(({ url = "", socket }, response) => {
      const freeCores = this.#freeCores;
      if (freeCores === null) return void socket.destroy();
      const { pathname } = new URL(url, "http://cluster.invalid");
      const items = itemsAt(pathname, nodeCores - freeCores);
      response.writeHead(items === undefined ? 404 : 200, { "content-type": "application/json" });
      const missing = { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 };
      response.end(JSON.stringify(items === undefined ? missing : { metadata: {}, items }));
    });
  }

  static async start(): Promise<ManagementCluster> {
    const cluster = new ManagementCluster();
    await new Promise<void>((resolve) => void cluster.#server.listen(0, "127.0.0.1", resolve));
    return cluster;
  }

  /** For `checkCapacity` of the configuration. */
  get kubeconfig(): string {
    const { port } = this.#server.address() as AddressInfo;
    const server = `http://127.0.0.1:${port}`;
    return JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "demo" },
      // The client refuses plain HTTP otherwise.
      clusters: [{ name: "demo", cluster: { server, "insecure-skip-tls-verify": true } }],
      users: [{ name: "demo", user: {} }],
      contexts: [{ name: "demo", context: { cluster: "demo", user: "demo" } }],
    });
  }

  get #freeCores(): number | null {
    let at = (Date.now() - this.#startedAt) % cycleMs;
    for (const { forMs, freeCores } of phases) {
      if (at < forMs) return freeCores;
      at -= forMs;
    }
    return null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

/** One machine, and one pod that uses up so many cores of it. */
function itemsAt(path: string, usedCores: number): object[] | undefined {
  const resources = { requests: { cpu: String(usedCores), memory: `${usedCores * 4}Gi` } };
  switch (path) {
    case "/api/v1/nodes":
      return [
        {
          metadata: { name: "worker-1", labels: {} },
          status: {
            allocatable: { cpu: String(nodeCores), memory: `${nodeCores * 4}Gi`, pods: "250" },
            conditions: [{ type: "Ready", status: "True" }],
          },
        },
      ];
    case "/api/v1/pods":
      return [
        {
          metadata: { name: "hosted", namespace: "clusters" },
          spec: { nodeName: "worker-1", containers: [{ name: "all", resources }] },
          status: { phase: "Running" },
        },
      ];
    default:
      return /\/(?:hostedclusters|resourcequotas)$/.test(path) ? [] : undefined;
  }
}
