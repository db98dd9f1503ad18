import type { Cluster } from "../../api/cluster-schemas.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import type { KeepAlive } from "../../client/keep-alive.ts";
import {
  type ClusterReport,
  type Phase,
  spaceOfCredentials,
  type Wanted,
} from "../../core/model/cluster.ts";
import type { AccessBundle, Json } from "../../drivers/driver.ts";
import { type ClusterFacts, type ClusterTask, TaskFacts, type WorkResult } from "./cluster-work.ts";

export const whyLengthMax = 1_000;

/** The cluster and the claim of a lease of the provisioner. */
interface Work {
  readonly phase: Phase;
  readonly cluster: Cluster;
  readonly claim: string;
}

export class ClientTask extends TaskFacts implements ClusterTask {
  readonly #client: BerthClient;
  readonly #lease: HeldLease;
  readonly #claim: string;
  readonly #alive: KeepAlive;

  constructor(client: BerthClient, lease: HeldLease, { phase, cluster, claim }: Work) {
    super(factsOf(cluster), phase);
    this.#client = client;
    this.#lease = lease;
    this.#claim = claim;
    this.#alive = client.keepAlive(lease);
  }

  get lost(): AbortSignal {
    return this.#alive.signal;
  }

  async report({ handle, stuck, ...rest }: ClusterReport): Promise<Wanted> {
    const body = {
      ...rest,
      ...(handle === undefined ? undefined : { handle: JSON.parse(handle) as Json }),
      ...(stuck === undefined ? undefined : { stuck: [...stuck] }),
    };
    const { wanted } = await this.#client.clusters.report(this.#lease, this.#claim, body);
    return wanted as Wanted;
  }

  putAccess(bundle: AccessBundle): Promise<void> {
    return this.#client.clusters.putAccess(this.#lease, this.#claim, bundle);
  }

  putLogs(why: string, text: string): Promise<void> {
    const body = { why: why.slice(0, whyLengthMax), text };
    return this.#client.clusters.putLogs(this.#lease, this.#claim, body);
  }

  async ownCredentials(): Promise<Readonly<Record<string, string>>> {
    return (await this.#client.clusters.ownCredentials(this.#lease, this.#claim)).values;
  }

  async finish({ state, failure }: WorkResult): Promise<void> {
    this.#alive.stop();
    if (this.lost.aborted) return;
    const options = {
      ...(state === undefined ? undefined : { state }),
      ...(failure === undefined ? undefined : { failure }),
    };
    // If the release fails, the lease expires by itself, and the cluster is observed again.
    await this.#client.release(this.#lease, options).catch(() => {});
  }
}

export function factsOf(cluster: Cluster): ClusterFacts {
  const { name: resource, pool, instance, template, revision, parameters, hub } = cluster;
  const handle = cluster.handle as Json | undefined;
  const space = cluster.space ?? spaceOfCredentials(parameters) ?? null;
  return { resource, pool, instance, template, revision, parameters, hub, space, handle };
}
