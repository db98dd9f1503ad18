import type {
  Hub,
  HubClusterList,
  HubClustersBody,
  HubStateBody,
  ProbeBody,
} from "../api/hub-schemas.ts";
import type { CallOptions } from "./calls.ts";
import type { Call, Transport } from "./transport.ts";

/** One method per API call about hubs. Each sends one HTTP request and never retries. */
export class HubCalls {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options?: CallOptions): Promise<{ readonly items: readonly Hub[] }> {
    return this.#json({ method: "GET", path: ["v1", "hubs"], ...options });
  }

  one(name: string, options?: CallOptions): Promise<Hub> {
    return this.#json({ method: "GET", path: ["v1", "hubs", name], ...options });
  }

  /** For operators: cordons or drains a hub, or uses it again. */
  set(name: string, body: HubStateBody, options?: CallOptions): Promise<Hub> {
    return this.#json({ method: "PUT", path: ["v1", "hubs", name, "state"], body, ...options });
  }

  /** All clusters on a hub, whoever has made them. */
  clusters(name: string, options?: CallOptions): Promise<HubClusterList> {
    return this.#json({ method: "GET", path: ["v1", "hubs", name, "clusters"], ...options });
  }

  /** For a provisioner: what its probe has found. */
  async probed(name: string, body: ProbeBody, options?: CallOptions): Promise<void> {
    const path = ["v1", "hubs", name, "probe"];
    await this.#transport.send({ method: "PUT", path, body, ...options });
  }

  /** For a provisioner: all clusters on a hub that it is to show. */
  async putClusters(name: string, body: HubClustersBody, options?: CallOptions): Promise<void> {
    const path = ["v1", "hubs", name, "clusters"];
    await this.#transport.send({ method: "PUT", path, body, ...options });
  }

  async #json<T>(call: Call): Promise<T> {
    return (await this.#transport.send(call)).body as T;
  }
}
