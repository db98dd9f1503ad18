import type { Broker } from "../../broker/broker.ts";
import {
  type ClusterReport,
  credentialsParameter,
  type Phase,
  type Wanted,
} from "../../core/model/cluster.ts";
import type { RequestId, ResourceName } from "../../core/model/ids.ts";
import type { Origin } from "../../core/model/origin.ts";
import type { AccessBundle } from "../../drivers/driver.ts";
import { workerLease } from "../worker-lease.ts";
import type { ClusterStores } from "./cluster-stores.ts";
import { type ClusterFacts, type ClusterTask, TaskFacts, type WorkResult } from "./cluster-work.ts";

export const provisionerName = "berth-provisioner";
export const asProvisioner: Origin = { way: "worker", by: provisionerName };

/** The lease of the provisioner on one cluster. */
interface Work {
  readonly id: RequestId;
  readonly phase: Phase;
  readonly cluster: ClusterFacts;
}

export class BrokerTask extends TaskFacts implements ClusterTask {
  readonly lost: AbortSignal;
  readonly #broker: Broker;
  readonly #stores: ClusterStores;
  readonly #work: Work;
  readonly #lost = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(broker: Broker, stores: ClusterStores, work: Work) {
    super(work.cluster, work.phase);
    this.#broker = broker;
    this.#stores = stores;
    this.#work = work;
    this.lost = this.#lost.signal;
    const beat = async (): Promise<void> => {
      const outcome = await broker.submit({ type: "renew", id: work.id }, asProvisioner);
      if (outcome.type === "refused") this.#lost.abort(new LeaseEnded());
    };
    this.#heartbeat = setInterval(() => void beat().catch(() => {}), workerLease.heartbeatMs);
  }

  async report(report: ClusterReport): Promise<Wanted> {
    const resource = this.resource as ResourceName;
    const command = { type: "cluster-report", id: this.#work.id, resource, report } as const;
    const outcome = await this.#broker.submit(command, asProvisioner);
    if (outcome.type === "reported") return outcome.wanted;
    this.#lost.abort(new LeaseEnded());
    throw new LeaseEnded();
  }

  putAccess(bundle: AccessBundle): Promise<void> {
    return this.#stores.putAccess(this.instance, bundle);
  }

  async putLogs(why: string, text: string): Promise<void> {
    this.#stores.putLogs(this.#work.cluster, why, text);
  }

  ownCredentials(): Promise<Readonly<Record<string, string>>> {
    return this.#stores.openCredentials(String(this.parameters[credentialsParameter] ?? ""));
  }

  async finish({ state, failure }: WorkResult): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.lost.aborted) return;
    // If the release fails, the lease expires by itself, and the cluster is observed again.
    await this.#broker
      .submit(
        {
          ...{ type: "release", id: this.#work.id },
          ...(state === undefined ? undefined : { state }),
          ...(failure === undefined ? undefined : { failure }),
        },
        asProvisioner,
      )
      .catch(() => {});
  }
}

/** The time for the phase is over, or an operator has ended the lease. */
class LeaseEnded extends Error {
  override readonly name = "LeaseEnded";
  constructor() {
    super("The lease of the provisioner has ended");
  }
}
