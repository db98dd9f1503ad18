import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import type { Broker } from "../../broker/broker.ts";
import { newRequestId } from "../../broker/lease-identity.ts";
import { untilEvent } from "../../broker/until-event.ts";
import { ownerOfCluster } from "../../core/explain/cluster-view.ts";
import { type Cluster, isPhase, type Phase, phases } from "../../core/model/cluster.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { PoolName, ResourceName } from "../../core/model/ids.ts";
import type { FoundCluster, SearchScope } from "../../core/model/orphan.ts";
import type { ExclusiveResource, State } from "../../core/model/state.ts";
import { never } from "../../core/model/time.ts";
import type { Json } from "../../drivers/driver.ts";
import type { HubCluster } from "../../drivers/hub/hub-clusters.ts";
import { workerLease } from "../worker-lease.ts";
import { asProvisioner, BrokerTask, provisionerName } from "./broker-task.ts";
import type { ClusterStores } from "./cluster-stores.ts";
import type {
  CheckResult,
  ClusterFacts,
  ClusterTask,
  ClusterWork,
  CredentialCheck,
  Lent,
  MintedAccess,
  SeenOrphan,
  SpaceCredentials,
  WatchedCluster,
} from "./cluster-work.ts";

/** The shortest time between two tries while the journal is not writable. */
const retryMs = 5_000;

type Made = ExclusiveResource & { readonly cluster: Cluster };

/** Clusters of the broker in this process. */
export class BrokerWork implements ClusterWork {
  readonly #broker: Broker;
  readonly #stores: ClusterStores;
  #turn = 0;
  #hasLeftOver: boolean;

  /** `isAlone`: no other process can have a provisioner on this journal. */
  constructor(broker: Broker, stores: ClusterStores, { isAlone = false } = {}) {
    this.#broker = broker;
    this.#stores = stores;
    this.#hasLeftOver = isAlone;
  }

  /**
   * Ends the leases of a provisioner of this journal that has died. Its driver programs have died with
   * it, so that its clusters need not wait for the ttl.
   */
  async #releaseLeftOver(): Promise<void> {
    const ids = await this.#broker.read(({ leases }) =>
      [...leases.values()]
        .filter(({ claims }) => claims.some(({ purpose }) => purpose === "provision"))
        .filter(({ ask }) => ask.holder === provisionerName)
        .map(({ id }) => id),
    );
    for (const id of ids) await this.#broker.submit({ type: "release", id }, asProvisioner);
    this.#hasLeftOver = false;
  }

  async take(): Promise<ClusterTask | undefined> {
    const broker = this.#broker;
    if (this.#hasLeftOver) await this.#releaseLeftOver();
    const found = await broker.read((state) => this.#next(state));
    if (found === undefined) return undefined;
    const { pool, phase } = found;
    const ask = {
      holder: provisionerName,
      items: [{ pool, count: 1, state: phase, into: phase }],
      ttlMs: workerLease.ttlMs,
    };
    const id = newRequestId(broker.now());
    const outcome = await broker.submit(
      { type: "acquire", id, ask, waitMs: 0, nowOnly: true },
      asProvisioner,
    );
    const claim = outcome.type === "granted" ? outcome.lease.claims[0] : undefined;
    if (outcome.type !== "granted" || claim === undefined) return undefined;
    const cluster = await broker.read(({ resources }) => {
      const resource = resources.get(claim.resource);
      return resource !== undefined && isMade(resource) ? factsOf(resource) : undefined;
    });
    if (cluster === undefined) {
      await broker.submit({ type: "release", id }, asProvisioner);
      return undefined;
    }
    return new BrokerTask(broker, this.#stores, { id, phase, cluster });
  }

  /** Pools and phases take turns, so that one with much work does not delay the others. */
  #next({ pools }: State): { readonly pool: PoolName; readonly phase: Phase } | undefined {
    const waiting: { pool: PoolName; phase: Phase }[] = [];
    for (const pool of pools.values()) {
      if (pool.clusters === null) continue;
      for (const phase of phases) {
        if ((pool.buckets.get(phase)?.idle.size ?? 0) > 0) waiting.push({ pool: pool.name, phase });
      }
    }
    this.#turn += 1;
    return waiting[this.#turn % Math.max(1, waiting.length)];
  }

  waitForWork(signal: AbortSignal): Promise<void> {
    return untilEvent(this.#broker, makesWork, { atMostMs: retryMs, signal });
  }

  clusters(): Promise<readonly WatchedCluster[]> {
    return this.#broker.read(({ pools }) => {
      const found: WatchedCluster[] = [];
      for (const pool of pools.values()) {
        if (pool.clusters === null) continue;
        for (const resource of pool.members.values()) {
          if (isMade(resource)) found.push({ ...factsOf(resource), state: resource.state });
        }
      }
      return found;
    });
  }

  lentOf({ resource: name, instance }: ClusterFacts): Promise<Lent | undefined> {
    return this.#broker.read(({ resources }) => {
      const resource = resources.get(name as ResourceName);
      if (resource === undefined || !isMade(resource)) return undefined;
      const { claim, cluster } = resource;
      if (claim?.purpose !== "use" || cluster.instance !== instance) return undefined;
      const { endsAt } = claim.lease;
      return { fence: claim.fence, endsAtMs: endsAt === never ? undefined : endsAt };
    });
  }

  async lost({ resource, instance }: ClusterFacts, why: string): Promise<void> {
    const name = resource as ResourceName;
    await this.#broker.submit(
      { type: "cluster-lost", resource: name, instance, why },
      asProvisioner,
    );
  }

  async found(scope: SearchScope, found: readonly FoundCluster[]): Promise<readonly SeenOrphan[]> {
    const outcome = await this.#broker.submit(
      { type: "clusters-found", ...scope, found },
      asProvisioner,
    );
    if (outcome.type !== "orphans") throw new Error(`Cannot search: it is ${outcome.type}`);
    const now = this.#broker.now();
    return outcome.orphans.map(({ name, instance, createdAt, seenAt }) => {
      return { name, instance, createdAt, seenMs: now - seenAt };
    });
  }

  spaceCredentials(_template: string, name: string): Promise<readonly SpaceCredentials[]> {
    return this.#stores.credentialsNamed(name);
  }

  takeCheck(signal: AbortSignal): Promise<CredentialCheck | undefined> {
    return this.#stores.checks.take(signal);
  }

  async answerCheck({ id }: CredentialCheck, result: CheckResult): Promise<void> {
    this.#stores.checks.answer(id, result);
  }

  async hubProbed(hub: string, probe: Parameters<ClusterWork["hubProbed"]>[1]): Promise<void> {
    await this.#broker.submit({ type: "hub-probed", hub, ...probe }, asProvisioner);
  }

  async hubClusters(hub: string, clusters: readonly HubCluster[]): Promise<void> {
    await this.#stores.putHubClusters(hub, clusters);
  }

  async templatesChecked(unusable: readonly UnusableTemplate[]): Promise<void> {
    this.#stores.putUnusable(unusable);
  }

  async putLentAccess(cluster: ClusterFacts, minted: MintedAccess): Promise<void> {
    const { bundle, fence, lastsMs } = minted;
    const isCurrent = await this.#broker.read(({ resources }) => {
      const resource = resources.get(cluster.resource as ResourceName);
      if (resource === undefined || !isMade(resource)) return false;
      return resource.cluster.instance === cluster.instance && resource.claim?.fence === fence;
    });
    const ends = lastsMs && { expiresAt: new Date(this.#broker.now() + lastsMs).toISOString() };
    if (isCurrent) await this.#stores.putAccess(cluster.instance, { ...bundle, ...ends });
  }
}

/** Whether the event may have made work, or have lent a cluster. */
function makesWork(event: DurableEvent): boolean {
  switch (event.type) {
    case "lease-ended":
      return event.back.some(({ state }) => isPhase(state));
    case "claim-ended":
      return isPhase(event.back.state);
    case "resource-rested":
    case "resource-added":
    case "cluster-moved":
      return isPhase(event.state ?? "");
    case "lease-granted":
      return event.claims.every(({ purpose }) => purpose === undefined);
    default:
      return false;
  }
}

function isMade(resource: { readonly sharing: string }): resource is Made {
  return resource.sharing === "exclusive" && (resource as ExclusiveResource).cluster !== null;
}

function factsOf(resource: Made): ClusterFacts {
  const { name, pool, cluster } = resource;
  const { instance, template, revision, parameters, hub, handle } = cluster;
  return {
    ...{ resource: name, pool: pool.name, instance, template, revision, parameters, hub },
    space: ownerOfCluster(resource) ?? null,
    handle: handle === null ? undefined : (JSON.parse(handle) as Json),
  };
}
