/** The pools of clusters that a seed creates, the workers that make them, and what is left. */
import type { Ask, Command } from "../src/core/model/command.ts";
import { type HubSpec, type HubState, hubStates } from "../src/core/model/hub.ts";
import type { ClaimId, PoolName, RequestId, ResourceName } from "../src/core/model/ids.ts";
import type { Outcome } from "../src/core/model/outcome.ts";
import { defaultPolicy, type PoolSpec } from "../src/core/model/policy.ts";
import type { Random } from "../src/insight/forecast/random.ts";
import { Cloud } from "./cloud.ts";
import type { JobWorld } from "./job.ts";
import { runProvisioner, type WorkerBugs } from "./provisioner.ts";
import { assertInvariant } from "./violation.ts";

const account = "cloud-account" as PoolName;
/** A cluster that nobody knows is destroyed at this age, and never before. */
const orphanMs = 600_000;
const sweepEveryMs = 60_000;

export class ClusterWorld {
  readonly pools: readonly PoolSpec[];
  /** Half of the worlds with clusters have hubs that vanish. */
  readonly hubs: readonly HubSpec[];
  readonly cloud: Cloud;
  readonly #jobs: JobWorld;
  readonly #random: Random;
  readonly #bugs: WorkerBugs;
  readonly #missing = new Map<string, number>();

  /** Two worlds of three have no clusters. `random` is a source of its own. */
  constructor(jobs: JobWorld, random: Random, bugs: WorkerBugs) {
    this.#jobs = jobs;
    this.#random = random;
    this.#bugs = bugs;
    this.cloud = new Cloud(jobs.world, random, jobs.faulty);
    const hasClusters = !random.chance(2 / 3);
    this.hubs = hasClusters && random.chance(0.5) ? this.#someHubs() : [];
    this.pools = hasClusters ? this.#somePools() : [];
    if (this.pools.length === 0) return;
    jobs.observer.ledger.clusters.outside = {
      wasReady: (instance) => this.cloud.everReady.has(instance),
      isDestroyed: (instance) => this.cloud.told.has(instance),
    };
  }

  #someHubs(): HubSpec[] {
    return ["h1", "h2"].map((name) => {
      const limit = this.#random.chance(0.7) ? { limit: this.#random.between(2, 4) } : undefined;
      return { name, labels: {}, ...limit };
    });
  }

  /** Another limit, or a hub that was removed. */
  editedHubs(): readonly HubSpec[] {
    const edited = this.hubs.map((hub) => ({ ...hub, limit: this.#random.between(2, 4) }));
    return this.#random.chance(0.2) ? edited.slice(1) : edited;
  }

  #somePools(): PoolSpec[] {
    const names = (["ocp", "rosa"] as const).slice(0, this.#random.between(1, 2));
    const isLimited = this.#random.chance(0.5);
    const ownHubs = this.#random.chance(0.3);
    const pools = names.map((name, index) => {
      const hubs = this.hubs.map((hub) => hub.name);
      return this.#pool(name as PoolName, isLimited, ownHubs ? hubs.slice(index, index + 1) : hubs);
    });
    if (!isLimited) return pools;
    const policy = { ...defaultPolicy, limit: this.#random.between(2, 5) };
    return [{ name: account, policy, members: [] }, ...pools];
  }

  #pool(name: PoolName, isLimited: boolean, hubs: readonly string[]): PoolSpec {
    const random = this.#random;
    const size = random.between(0, 2);
    const hibernates = random.chance(0.7);
    const cluster = {
      template: "sim",
      revision: "r1",
      size,
      running: hibernates ? random.pick([0, 1, "auto" as const]) : size,
      ...(random.chance(0.7) ? { max: random.between(2, 4) } : undefined),
      ...(random.chance(0.5) ? { concurrent: random.between(1, 2) } : undefined),
      hibernates,
      limits: { createMs: 300_000, resumeMs: 120_000, stopMs: 120_000, destroyMs: 180_000 },
      parameters: { version: "4.20" },
      ...(hubs.length === 0 ? undefined : { hubs }),
    };
    const policy = {
      ...defaultPolicy,
      ...{ ttlMs: 30_000, lockDelayMs: random.pick([0, 5_000]), cluster, cost: 1 },
      ...(random.chance(0.2) ? { lifetimeMs: 90_000 } : undefined),
      ...(isLimited ? { parent: account } : undefined),
    };
    return { name, policy, members: [] };
  }

  /** Another size or revision, or one pool removed. */
  editedPools(): PoolSpec[] {
    const random = this.#random;
    const edited = this.pools.map((pool) => {
      const { cluster } = pool.policy;
      if (cluster === undefined) {
        return { ...pool, policy: { ...pool.policy, limit: random.between(2, 5) } };
      }
      const size = random.between(0, 3);
      const running = cluster.hibernates ? random.between(0, size) : size;
      const revision = random.pick(["r1", "r2"]);
      const changed = { ...cluster, size, running, revision };
      return { ...pool, policy: { ...pool.policy, cluster: changed } };
    });
    return random.chance(0.15) ? edited.slice(0, -1) : edited;
  }

  get #lent(): readonly PoolSpec[] {
    return this.pools.filter(({ name }) => name !== account);
  }

  /** One or two of a pool, sometimes with other parameters, sometimes of any pool. */
  *asks(): Generator<Ask> {
    const random = this.#random;
    if (this.#lent.length === 0) return;
    for (let number = 1; number <= random.between(4, 12); number++) {
      const { name } = random.pick(this.#lent);
      const holder = `tester-${number}`;
      const anyOf = random.chance(0.2) ? { anyOf: [random.pick(this.#lent).name] } : undefined;
      const item = {
        ...{ pool: name, count: random.chance(0.2) ? 2 : 1, ...anyOf },
        ...(random.chance(0.2) ? { parameters: { version: "4.19" } } : undefined),
      };
      yield { holder, items: [item], key: `key-${holder}` };
    }
  }

  /** Workers, a sweep, and people who delete clusters by hand. They never end. */
  *workers(): Generator<Promise<void>> {
    if (this.#lent.length === 0) return;
    const { world, network, observer } = this.#jobs;
    const { clusters } = observer.ledger;
    const at = {
      ...{ world, network, random: this.#random, cloud: this.cloud, bugs: this.#bugs },
      pools: this.#lent.map(({ name }) => name),
      faulty: () => this.#jobs.faulty(),
      hubs: this.hubs.map(({ name }) => name),
      whereIs: (resource: string) => clusters.clusters.get(resource),
      creates: (instance: string) => {
        const isPlanned = clusters.isPlanned(instance);
        assertInvariant(isPlanned, () => `${instance} is created, and nobody has planned it`);
      },
      released: (id: RequestId) => observer.releases(id),
    };
    yield runProvisioner("w1", at);
    yield runProvisioner("w2", at);
    yield this.#sweep();
    yield this.#meddle();
    if (this.hubs.length > 0) yield this.#probe();
  }

  /** Hubs answer, or do not. Operators set them; in the end all are in use again. */
  async #probe(): Promise<void> {
    const { world } = this.#jobs;
    const random = this.#random;
    const reason = { by: "operator", why: "simulated" };
    const set = (hub: string, state: HubState) =>
      this.#send({ type: "hub-set", hub, state, reason });
    for (;;) {
      await world.sleep(random.between(1_000, 10_000));
      for (const { name: hub } of this.hubs) {
        const isFaulty = this.#jobs.faulty();
        if (isFaulty && random.chance(0.02)) this.#cutOff(hub);
        if (isFaulty && random.chance(0.02)) await set(hub, random.pick(hubStates));
        if (!isFaulty) await set(hub, "active");
        const error = this.cloud.isCutOff(hub) ? { error: "the hub cannot be reached" } : undefined;
        await this.#send({ type: "hub-probed", hub, ...error });
      }
    }
  }

  #cutOff(hub: string): void {
    this.cloud.cutOff.add(hub);
    const forMs = this.#random.between(10_000, 1_200_000);
    this.#jobs.world.after(forMs, () => this.cloud.cutOff.delete(hub));
  }

  /** Compares what exists with the books, in both directions. */
  async #sweep(): Promise<void> {
    const { world, observer } = this.#jobs;
    for (;;) {
      await world.sleep(sweepEveryMs);
      await this.#destroyOrphans();
      const books = observer.ledger.clusters.clusters;
      for (const [resource, { instance, state, hub }] of [...books]) {
        if (this.cloud.isCutOff(hub)) continue; // A driver that cannot answer tells nothing.
        const phase = this.cloud.phaseOf(instance);
        const isAwake = state === "free" || state === "busy";
        const isWrong =
          (isAwake && phase !== "ready") || (state === "hibernated" && phase !== "hibernated");
        if (isWrong) await this.#reportLost(resource, instance);
        else this.#missing.delete(resource);
      }
    }
  }

  /** The broker says which nobody knows of. */
  async #destroyOrphans(): Promise<void> {
    const listed = this.cloud.list();
    const found = Array.from(listed.keys(), (instance) => {
      return { name: instance, instance, createdAt: "" };
    });
    const scope = { template: "t", credentials: null };
    const outcome = await this.#send({ type: "clusters-found", ...scope, found });
    if (outcome?.type !== "orphans" || this.#bugs.forgetOrphans) return;
    for (const { instance } of outcome.orphans) {
      if ((listed.get(instance) ?? 0) < orphanMs) continue;
      await this.cloud.call("destroy", { instance, hub: null }).catch(() => {});
    }
  }

  async #reportLost(resource: string, instance: string): Promise<void> {
    const seen = (this.#missing.get(resource) ?? 0) + 1;
    this.#missing.set(resource, seen);
    if (seen < 2) return; // One look may be wrong.
    const why = "the cloud does not have it";
    await this.#send({ type: "cluster-lost", resource: resource as ResourceName, instance, why });
  }

  /** Operators hold, destroy and abandon clusters, and delete some behind the broker's back. */
  async #meddle(): Promise<void> {
    const { world, observer } = this.#jobs;
    const random = this.#random;
    while (this.#jobs.faulty()) {
      await world.sleep(random.between(10_000, 120_000));
      const [...known] = observer.ledger.clusters.clusters;
      if (known.length === 0 || !this.#jobs.faulty()) continue;
      const [name, { instance }] = random.pick(known);
      const resource = name as ResourceName;
      const reason = { by: "operator", why: "simulated" };
      const forMs = random.between(10_000, 300_000);
      await random.pick([
        async () => this.cloud.lose(instance),
        () => this.#send({ type: "cluster-hold", resource, forMs, reason }),
        () => this.#send({ type: "cluster-destroy", resource, reason }),
        () => this.#replaceOne(),
        () => this.#send({ type: "cluster-abandon", resource, reason }),
      ])();
    }
  }

  /** A holder asks for another cluster, as it would after a loss. */
  async #replaceOne(): Promise<void> {
    const { leases, clusters } = this.#jobs.observer.ledger;
    const lent = [...leases].flatMap(([id, { claims }]) => {
      const ofClusters = [...claims].filter(([, name]) => clusters.clusters.get(name)?.wasLent);
      return ofClusters.map(([claim]) => ({ id: id as RequestId, claim: claim as ClaimId }));
    });
    if (lent.length === 0) return;
    await this.#send({ type: "cluster-replace", ...this.#random.pick(lent) });
  }

  async #send(command: Command): Promise<Outcome | undefined> {
    const reply = await this.#jobs.network.call({ type: "operate", command }, 3_000);
    return reply?.type === "outcome" ? reply.outcome : undefined;
  }

  /** What is still to be done; undefined once books and cloud agree and nothing is under way. */
  unsettled(): string | undefined {
    if (this.#lent.length === 0) return undefined;
    const books = this.#jobs.observer.ledger.clusters.clusters;
    const known = new Set<string>();
    for (const [resource, { state, instance }] of books) {
      known.add(instance);
      const phase = this.cloud.phaseOf(instance);
      const isRight =
        (state === "free" && phase === "ready") ||
        (state === "hibernated" && phase === "hibernated");
      if (!isRight) return `${resource} is ${state}, and ${phase} in the cloud`;
    }
    for (const instance of this.cloud.list().keys()) {
      if (!known.has(instance)) return `${instance} is in the cloud, and nobody knows it`;
    }
    return undefined;
  }
}
