/**
 * Clusters of Hive's ClusterPools. The ClusterClaim is named after the instance, so it is the
 * reservation: asked twice, there is one claim. Hive waits for ever and believes that a cluster which
 * it has woken runs; this driver looks at the ClusterDeployment itself.
 */
import {
  Absent,
  type AccessBundle,
  type CallOptions,
  type Capabilities,
  type ClusterRef,
  type ClusterSpec,
  type Driver,
  Hopeless,
  type Json,
  type ListedCluster,
  type LogBudget,
  type Observation,
  Retry,
} from "../driver.ts";
import { conditionOf, inWords } from "../hub/conditions.ts";
import type { HubApi } from "../hub/hub-api.ts";
import { labelSelector } from "../hub/label-selector.ts";
import { collect, conditionsText } from "../hub/logs.ts";
import { mustBeSame, type Owner } from "../hub/ownership.ts";
import { HubParts } from "../hub/parts.ts";
import { whoAmI } from "../hub/who-am-i.ts";
import type { SecretMask } from "../secret-mask.ts";
import { betterPool, choosePool } from "./choose-pool.ts";
import { Deployments } from "./deployments.ts";
import {
  type ClusterClaim,
  type ClusterDeployment,
  type ClusterPool,
  claimKind,
  deploymentKind,
  poolKind,
} from "./objects.ts";

export interface ClaimSettings {
  readonly owner: Owner;
  /** Of the pools, and so of the claims. */
  readonly namespace: string;
  /** Labels that a pool must have, beside those of the parameters. */
  readonly pools: Readonly<Record<string, string>>;
  readonly hibernates: boolean;
}

/** On a claim that is deleted only to be made again for another pool. */
const movingKey = "berth/moving-to";

export class HiveClaimDriver implements Driver {
  readonly capabilities: Capabilities;
  readonly #hub: HubApi;
  readonly #settings: ClaimSettings;
  readonly #mask: SecretMask;
  readonly #parts: HubParts;
  readonly #deployments: Deployments;

  constructor(hub: HubApi, settings: ClaimSettings, mask: SecretMask) {
    this.capabilities = { hibernates: settings.hibernates, mintsAccess: false };
    this.#hub = hub;
    this.#settings = settings;
    this.#mask = mask;
    this.#parts = new HubParts(hub, settings.owner);
    this.#deployments = new Deployments(hub, mask);
  }

  async create(spec: ClusterSpec, { signal }: CallOptions = {}): Promise<Json> {
    const { namespace } = this.#settings;
    const handle = { claim: `${namespace}/${spec.name}` };
    const found = await this.#hub.find<ClusterClaim>(claimKind, spec.name, { namespace, signal });
    if (found !== undefined && isMoving(found)) {
      throw new Retry(`ClusterClaim ${spec.name} is on its way to another ClusterPool`);
    }
    if (found === undefined) await this.#claim(spec, signal);
    else {
      mustBeSame(found, spec, `ClusterClaim ${spec.name}`);
      await this.#moveIfBetter(found, spec, signal);
    }
    return handle;
  }

  async observe(ref: ClusterRef, { signal }: CallOptions = {}): Promise<Observation> {
    const claim = await this.#find(ref, signal);
    if (claim === undefined) return this.#withoutClaim(ref, signal);
    const { namespace } = claim.spec ?? {};
    if (claim.metadata.deletionTimestamp !== undefined) {
      if (isMoving(claim)) return { phase: "creating", message: "It goes to another ClusterPool" };
      const cluster = namespace === undefined ? undefined : await this.#cluster(claim, signal);
      return this.#deployments.destroying(cluster, namespace ?? ref.name, signal);
    }
    const pending = conditionOf(claim, "Pending");
    if (namespace === undefined) {
      const where = `ClusterPool ${claim.spec?.clusterPoolName ?? ""}`;
      return { phase: "creating", message: `${where}: ${pending ? inWords(pending) : "waiting"}` };
    }
    const cluster = await this.#deployments.find(namespace, signal);
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) {
      return { phase: "failed", message: `Its ClusterDeployment ${namespace} was deleted` };
    }
    // The claim is written first: Hive is about to write the other half, or to take it back.
    if (cluster.spec?.clusterPoolRef?.claimName !== ref.name) {
      return { phase: "creating", message: `ClusterDeployment ${namespace} is being assigned` };
    }
    return this.#deployments.phase(cluster, signal);
  }

  async credentials(ref: ClusterRef, { signal }: CallOptions = {}): Promise<AccessBundle> {
    const cluster = await this.#clusterOf(ref, signal);
    if (cluster === undefined) throw absent(ref);
    return this.#deployments.access(cluster, signal);
  }

  async hibernate(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    this.#mustHibernate();
    await this.#deployments.setPower(await this.#clusterOf(ref, signal), "Hibernating", signal);
  }

  async resume(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    this.#mustHibernate();
    await this.#deployments.setPower(await this.#clusterOf(ref, signal), "Running", signal);
  }

  async destroy(ref: ClusterRef, { signal }: CallOptions = {}): Promise<void> {
    const claim = await this.#find(ref, signal);
    if (claim !== undefined) await this.#parts.remove([{ kind: claimKind, object: claim }], signal);
  }

  mark(ref: ClusterRef, tags: ClusterSpec["tags"], { signal }: CallOptions = {}): Promise<void> {
    const { namespace } = this.#settings;
    return this.#parts.mark(claimKind, ref, tags, { namespace, signal });
  }

  list({ signal }: CallOptions = {}): Promise<readonly ListedCluster[]> {
    return this.#parts.list([claimKind], { namespace: this.#settings.namespace, signal });
  }

  async logs(ref: ClusterRef, budget: LogBudget, { signal }: CallOptions = {}): Promise<string> {
    const claim = await this.#find(ref, signal);
    if (claim === undefined) return "";
    const { namespace } = claim.spec ?? {};
    const cluster = namespace === undefined ? [] : this.#deployments.evidence(namespace, signal);
    const sources = [async () => conditionsText({ kind: "ClusterClaim", ...claim }), ...cluster];
    return this.#mask.clean(await collect(sources, budget));
  }

  async #claim(spec: ClusterSpec, signal?: AbortSignal): Promise<void> {
    const { namespace, owner } = this.#settings;
    const { pools, claims } = await this.#stock(spec, signal);
    const pool = choosePool(pools, claims, spec.instance);
    if (pool === undefined) throw await this.#noPool(spec, signal);
    const { expiryMs } = owner;
    const body = {
      metadata: { name: spec.name },
      spec: {
        clusterPoolName: pool.metadata.name,
        // Hive then gives just this account the rights in the cluster's namespace.
        subjects: await whoAmI(this.#hub, signal),
        ...(expiryMs !== undefined && { lifetime: `${Math.ceil(expiryMs / 1_000)}s` }),
      },
    };
    await this.#parts.createOrAdopt(claimKind, body, spec, { namespace, signal });
  }

  /** Only while no cluster is assigned: the version of the claim is a precondition of its deletion. */
  async #moveIfBetter(found: ClusterClaim, spec: ClusterSpec, signal?: AbortSignal): Promise<void> {
    if (found.spec?.namespace !== undefined) return;
    const { pools, claims } = await this.#stock(spec, signal);
    const claim = claims.find(({ metadata }) => metadata.uid === found.metadata.uid);
    if (claim === undefined || claim.spec?.namespace !== undefined) return;
    const better = betterPool(claim, pools, claims, spec.instance);
    if (better === undefined) return;
    const annotations = { [movingKey]: better.metadata.name };
    const marked = await this.#hub.patch(
      claimKind,
      claim,
      { metadata: { annotations } },
      { signal },
    );
    await this.#hub.remove(claimKind, marked, { signal, unchanged: true });
  }

  async #stock(spec: ClusterSpec, signal?: AbortSignal) {
    const { namespace, pools: labels } = this.#settings;
    const wanted = { ...labels, ...spec.parameters };
    const pools = await this.#hub.list<ClusterPool>(poolKind, {
      ...{ namespace, signal, labels: labelSelector(wanted) },
    });
    const claims = await this.#hub.list<ClusterClaim>(claimKind, { namespace, signal });
    return { pools, claims };
  }

  async #noPool({ parameters }: ClusterSpec, signal?: AbortSignal): Promise<Hopeless> {
    const { namespace, pools: labels } = this.#settings;
    const wanted = { ...labels, ...parameters };
    const all = await this.#hub.list<ClusterPool>(poolKind, { namespace, signal });
    const keys = Object.keys(wanted);
    const there = all.map(({ metadata }) => {
      const values = keys.map((key) => `${key}=${metadata.labels?.[key] ?? ""}`);
      return `${metadata.name} (${values.join(", ")})`;
    });
    const state = `no ClusterPool of ${namespace} has the labels ${labelSelector(wanted)}`;
    const hint = there.length === 0 ? "there is no pool" : `there are ${there.join(", ")}`;
    return new Hopeless(`Cannot claim a cluster: ${state}; ${hint}`);
  }

  /** Its claim is gone. If somebody took the finalizer away, the cluster may still be there. */
  async #withoutClaim(ref: ClusterRef, signal?: AbortSignal): Promise<Observation> {
    const { namespace } = this.#settings;
    const other = await this.#hub.find(claimKind, ref.name, { namespace, signal });
    if (other !== undefined) return { phase: "absent" };
    // All of them: older versions of Hive put no label of the pool on its clusters.
    const clusters = await this.#hub.list<ClusterDeployment>(deploymentKind, { signal });
    const first = clusters.find(({ spec }) => {
      const { claimName, namespace: pools } = spec?.clusterPoolRef ?? {};
      return claimName === ref.name && pools === namespace;
    });
    if (first === undefined) return { phase: "absent" };
    return this.#deployments.destroying(first, first.metadata.name, signal);
  }

  async #clusterOf(ref: ClusterRef, signal?: AbortSignal): Promise<ClusterDeployment | undefined> {
    const claim = await this.#find(ref, signal);
    return claim === undefined ? undefined : this.#cluster(claim, signal);
  }

  /** Undefined also if the ClusterDeployment belongs to another claim. */
  async #cluster({ metadata, spec }: ClusterClaim, signal?: AbortSignal) {
    if (spec?.namespace === undefined) return undefined;
    const found = await this.#deployments.find(spec.namespace, signal);
    return found?.spec?.clusterPoolRef?.claimName === metadata.name ? found : undefined;
  }

  #find(ref: ClusterRef, signal?: AbortSignal): Promise<ClusterClaim | undefined> {
    const { namespace } = this.#settings;
    return this.#parts.find<ClusterClaim>(claimKind, ref, { namespace, signal });
  }

  #mustHibernate(): void {
    if (!this.capabilities.hibernates) {
      throw new Hopeless("Cannot stop or wake the cluster: its template says hibernates: false");
    }
  }
}

/** One that got a cluster meanwhile stays where it is. */
function isMoving({ metadata, spec }: ClusterClaim): boolean {
  const { annotations = {}, deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined || spec?.namespace !== undefined) return false;
  return annotations[movingKey] !== undefined;
}

function absent({ name }: ClusterRef): Absent {
  return new Absent(`There is no ClusterClaim ${name} of this instance with a cluster`);
}
