import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import { Problem } from "../../api/problem.ts";
import type { BerthClient, HeldLease } from "../../client/berth-client.ts";
import { LinkedAbort } from "../../client/linked-abort.ts";
import { pause } from "../../client/pause.ts";
import { type Phase, phases } from "../../core/model/cluster.ts";
import { hubErrorLengthMax } from "../../core/model/hub.ts";
import type { FoundCluster, SearchScope } from "../../core/model/orphan.ts";
import type { HubCluster } from "../../drivers/hub/hub-clusters.ts";
import { ClientTask, factsOf, whyLengthMax } from "./client-task.ts";
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

/** Events arrive in bursts. One read of the pools serves a whole burst. */
const burstMs = 500;
/** The pools are read at this interval if there are no events or the event stream fails. */
const pollIntervalMs = 15_000;
const pageSize = 500;
/** How long the server waits for credentials to check, and how long we wait for its answer. */
const checkWait = "30s";
const checkAnswerMs = 45_000;

/** Clusters of a server over HTTP, for `berth provisioner`. */
export class ClientWork implements ClusterWork {
  readonly #client: BerthClient;
  readonly #holder: string;
  /** Pools and phases that had work at the last read. */
  #waiting: { readonly pool: string; readonly phase: Phase; count: number }[] | undefined;

  constructor(client: BerthClient, holder: string) {
    this.#client = client;
    this.#holder = holder;
  }

  async take(): Promise<ClusterTask | undefined> {
    this.#waiting ??= await this.#readWaiting();
    // Pools and phases take turns.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const task = await this.#takeOf(next.pool, next.phase);
      if (task === undefined) continue;
      next.count -= 1;
      if (next.count > 0) this.#waiting.push(next);
      return task;
    }
    return undefined;
  }

  async #takeOf(pool: string, phase: Phase): Promise<ClusterTask | undefined> {
    try {
      const lease = await this.#client.acquire({
        items: [{ pool, state: phase, into: phase }],
        holder: this.#holder,
        ttl: "60s",
        nowOnly: true,
      });
      return await this.#taskOf(lease, phase);
    } catch (error) {
      if (error instanceof Problem && error.code === "none_free") return undefined;
      throw error;
    }
  }

  async #taskOf(lease: HeldLease, phase: Phase): Promise<ClusterTask> {
    const [claim] = lease.claims;
    try {
      const cluster = await this.#client.clusters.one(claim?.resource ?? "", { handles: true });
      return new ClientTask(this.#client, lease, { phase, cluster, claim: claim?.id ?? "" });
    } catch (error) {
      await this.#client.release(lease).catch(() => {}); // Or the cluster would wait for the ttl.
      throw error;
    }
  }

  /** The next `take` reads the pools again. */
  async waitForWork(signal: AbortSignal): Promise<void> {
    const woken = new LinkedAbort(signal);
    const timer = setTimeout(() => woken.abort(), pollIntervalMs);
    try {
      // The loop ends without an error when the timer aborts it.
      for await (const { type } of this.#client.events({ signal: woken.signal })) {
        if (/^(?:lease|claim)-ended$|^lease-granted$|^resource-|^cluster-/.test(type)) break;
      }
      await pause(burstMs, signal);
    } catch {
      await pause(pollIntervalMs, signal).catch(() => {});
    } finally {
      clearTimeout(timer);
      woken.unlink();
      woken.abort();
      this.#waiting = undefined;
    }
  }

  async clusters(): Promise<readonly WatchedCluster[]> {
    const found: WatchedCluster[] = [];
    let after: string | null | undefined;
    do {
      const query = { limit: pageSize, handles: true, ...(after && { after }) };
      const page = await this.#client.clusters.list(query);
      for (const cluster of page.items) {
        found.push({ ...factsOf(cluster), state: cluster.state });
      }
      after = page.next;
    } while (after !== null);
    return found;
  }

  async lentOf({ resource, instance }: ClusterFacts): Promise<Lent | undefined> {
    const cluster = await this.#client.clusters.one(resource);
    if (cluster.lease === null || cluster.instance !== instance) return undefined;
    const { claims, endsAt } = await this.#client.lease(cluster.lease.id);
    const claim = claims.find((each) => each.resource === resource);
    if (claim === undefined) return undefined;
    return { fence: claim.fence, endsAtMs: endsAt === null ? undefined : Date.parse(endsAt) };
  }

  async lost({ resource, instance }: ClusterFacts, why: string): Promise<void> {
    await this.#client.clusters.lost(resource, { instance, why: why.slice(0, whyLengthMax) });
  }

  async found(
    { template, credentials, hub }: SearchScope,
    found: readonly FoundCluster[],
  ): Promise<readonly SeenOrphan[]> {
    const where = hub === undefined ? undefined : { hub };
    const body = { template, credentials, ...where, found: [...found] };
    const { items } = await this.#client.clusters.found(body);
    return items.map(({ name, instance, createdAt, seenSeconds }) => {
      return { name, instance, createdAt, seenMs: seenSeconds * 1_000 };
    });
  }

  async spaceCredentials(template: string): Promise<readonly SpaceCredentials[]> {
    return (await this.#client.clusters.templateCredentials(template)).items;
  }

  takeCheck(signal: AbortSignal): Promise<CredentialCheck | undefined> {
    return this.#client.clusters.takeCheck(checkWait, { signal, answerMs: checkAnswerMs });
  }

  async answerCheck({ id }: CredentialCheck, result: CheckResult): Promise<void> {
    const why = result.why.slice(0, whyLengthMax);
    // Whoever stores them may not wait any longer.
    await this.#client.clusters.answerCheck(id, { ...result, why }).catch(() => {});
  }

  async hubProbed(hub: string, probe: Parameters<ClusterWork["hubProbed"]>[1]): Promise<void> {
    const { error, kinds, versions, ready } = probe;
    await this.#client.hubs.probed(hub, {
      ...(error === undefined ? undefined : { error: error.slice(0, hubErrorLengthMax) }),
      ...(kinds === undefined ? undefined : { kinds: [...kinds] }),
      ...(versions === undefined ? undefined : { versions: [...versions] }),
      ...(ready === undefined ? undefined : { ready: { ...ready } }),
    });
  }

  async hubClusters(hub: string, clusters: readonly HubCluster[]): Promise<void> {
    await this.#client.hubs.putClusters(hub, { items: [...clusters] });
  }

  async templatesChecked(all: readonly UnusableTemplate[], signal: AbortSignal): Promise<void> {
    const unusable = all.map(({ name, why }) => ({ name, why: why.slice(0, whyLengthMax) }));
    // Two of the same user and machine must not contradict each other.
    const provisioner = `${this.#holder}/${process.pid}`;
    try {
      await this.#client.clusters.templatesChecked({ provisioner, unusable }, { signal });
    } catch (error) {
      // A server of an earlier version has no such call.
      if (!(error instanceof Problem && error.status === 404)) throw error;
    }
  }

  async putLentAccess(cluster: ClusterFacts, minted: MintedAccess): Promise<void> {
    const { resource, instance } = cluster;
    const { bundle, fence, lastsMs } = minted;
    const lasts = lastsMs && { lastsSeconds: Math.max(1, Math.floor(lastsMs / 1_000)) };
    const body = { ...bundle, instance, fence };
    try {
      await this.#client.clusters.putLentAccess(resource, { ...body, ...lasts });
    } catch (error) {
      // A server of an earlier version refuses a body with what it does not know.
      if (!(error instanceof Problem && error.status === 400)) throw error;
      await this.#client.clusters.putLentAccess(resource, body);
    }
  }

  async #readWaiting() {
    const pools = await this.#client.everyPool();
    return pools.flatMap(({ name: pool, states }) =>
      phases.flatMap((phase) => {
        const count = states[phase] ?? 0;
        return count > 0 ? [{ pool, phase, count }] : [];
      }),
    );
  }
}
