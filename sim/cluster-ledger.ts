/**
 * A second ledger of the clusters: which exist, in which state, and who is charged for them. No limit
 * is exceeded by a plan, nothing is lent before it is ready, and nothing is lent twice.
 */
import type { DurableEvent, GrantedClaim, HubEvent, Return } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { assertInvariant } from "./violation.ts";

interface Known {
  readonly pool: string;
  readonly instance: string;
  readonly kind: string;
  readonly price: number;
  readonly hub: string | null;
  state: string;
  wasLent: boolean;
  chargedTo: string | null;
}

interface HubFacts {
  limit: number;
  isCutOff: boolean;
  /** An operator has cordoned or drained it. */
  isClosed: boolean;
  isRetired: boolean;
}

const newHub: HubFacts = { limit: 0, isCutOff: false, isClosed: false, isRetired: false };

/** What is true outside. */
export interface Outside {
  wasReady(instance: string): boolean;
  isDestroyed(instance: string): boolean;
}

export class ClusterLedger {
  readonly clusters = new Map<string, Known>();
  readonly #policies = new Map<string, PoolPolicy>();
  readonly #instances = new Set<string>();
  readonly #hubs = new Map<string, HubFacts>();
  /** Undefined in worlds without clusters. */
  outside: Outside | undefined;

  has(resource: string): boolean {
    return this.clusters.has(resource);
  }

  isPlanned(instance: string): boolean {
    return this.#instances.has(instance);
  }

  /** The pools and prices of the clusters that a space is charged for. */
  chargedTo(space: string): { readonly pool: string; readonly price: number }[] {
    return [...this.clusters.values()].filter(({ chargedTo }) => chargedTo === space);
  }

  record(event: DurableEvent): void {
    switch (event.type) {
      case "pool-defined":
        this.#policies.set(event.pool, event.policy);
        return;
      case "pool-removed":
        this.#policies.delete(event.pool);
        return;
      case "hub-defined":
      case "hub-retired":
      case "hub-set":
      case "hub-probed":
        return this.#hubEvent(event);
      case "resource-added":
        if (event.cluster === undefined) return;
        return this.#planned(event.resource, event.pool, event.state ?? "", event.cluster);
      case "cluster-moved":
        return this.#moved(event.resource, event.state);
      case "resource-removed":
        return this.#removed(event.resource, "tombstone");
      case "cluster-abandoned":
        return this.#removed(event.resource, null);
      default:
        return;
    }
  }

  #planned(
    resource: string,
    pool: string,
    state: string,
    birth: { instance: string; parameters: object; price: number; hub?: string },
  ): void {
    const { instance, parameters, price, hub = null } = birth;
    assertInvariant(!this.#instances.has(instance), () => `${instance} was planned twice`);
    this.#instances.add(instance);
    const kind = JSON.stringify(Object.entries(parameters).sort());
    const known = { pool, instance, kind, price, hub, state, wasLent: false, chargedTo: null };
    this.clusters.set(resource, known);
    this.#checkHub(resource, pool, hub);
    const there = this.#countIn([pool], () => true);
    const { max = Number.POSITIVE_INFINITY } = this.#policies.get(pool)?.cluster ?? {};
    assertInvariant(there <= max, () => `${resource} was planned, and ${there} are above ${max}`);
    this.#checkBusy(pool, resource);
    for (const above of this.#up(pool)) {
      const { limit = Number.POSITIVE_INFINITY } = this.#policies.get(above) ?? {};
      const used = this.#countIn(this.#below(above), () => true);
      assertInvariant(used <= limit, () => `${resource} took ${above} to ${used} of ${limit}`);
    }
  }

  #hubEvent(event: HubEvent): void {
    const { name } = event;
    const known = this.#hubs.get(name) ?? { ...newHub };
    this.#hubs.set(name, known);
    switch (event.type) {
      case "hub-defined":
        known.limit = event.limit ?? Number.POSITIVE_INFINITY;
        known.isRetired = false;
        return;
      case "hub-set":
        known.isClosed = event.state !== "active";
        return;
      case "hub-probed":
        if (event.error !== undefined) known.isCutOff = event.error !== null;
        return;
      case "hub-retired":
        known.isRetired = true;
        return this.#forgetHub(name);
    }
  }

  #isCutOff(hub: string | null): boolean {
    return hub !== null && this.#hubs.get(hub)?.isCutOff === true;
  }

  #checkHub(resource: string, pool: string, hub: string | null): void {
    const allowed = this.#policies.get(pool)?.cluster?.hubs;
    const isRight = hub === null ? allowed === undefined : allowed?.includes(hub) === true;
    assertInvariant(isRight, () => `${resource} is on ${hub}, and ${pool} may use ${allowed}`);
    if (hub === null) return;
    const known = this.#hubs.get(hub);
    const isOpen = known !== undefined && !known.isCutOff && !known.isClosed && !known.isRetired;
    assertInvariant(isOpen, () => `${resource} was planned on ${hub}, which takes nothing`);
    const used = [...this.clusters.values()].filter((one) => one.hub === hub).length;
    const { limit = 0 } = known ?? {};
    assertInvariant(used <= limit, () => `${resource} took ${hub} to ${used} of ${limit}`);
  }

  #moved(resource: string, state: string): void {
    const known = this.clusters.get(resource);
    if (known === undefined) return;
    const was = known.state;
    known.state = state;
    const isBusy = (one: string) => one === "creating" || one === "destroying";
    if (isBusy(state) && !isBusy(was)) this.#checkBusy(known.pool, resource);
  }

  #checkBusy(pool: string, resource: string): void {
    const { concurrent = Number.POSITIVE_INFINITY } = this.#policies.get(pool)?.cluster ?? {};
    const busy = this.#countIn([pool], (one, hub) => {
      return (one === "creating" || one === "destroying") && !this.#isCutOff(hub);
    });
    assertInvariant(
      busy <= concurrent,
      () => `${resource} is one of ${busy} at once, and ${pool} allows ${concurrent}`,
    );
  }

  #removed(resource: string, from: string | null): void {
    const known = this.clusters.get(resource);
    if (known === undefined) return;
    assertInvariant(
      from === null || known.state === from,
      () => `${resource} was removed while it is ${known.state}`,
    );
    this.clusters.delete(resource);
    if (known.hub !== null) this.#forgetHub(known.hub);
  }

  /** A hub that was removed from the configuration is forgotten with its last cluster. */
  #forgetHub(name: string): void {
    const isUsed = [...this.clusters.values()].some(({ hub }) => hub === name);
    if (this.#hubs.get(name)?.isRetired && !isUsed) this.#hubs.delete(name);
  }

  granted({ resource, purpose, into = "busy" }: GrantedClaim, space: string | undefined): void {
    const known = this.clusters.get(resource);
    if (known === undefined) return;
    const { instance, state } = known;
    known.state = into;
    assertInvariant(
      !this.#isCutOff(known.hub),
      () => `${resource} was granted while its hub ${known.hub} cannot be reached`,
    );
    if (purpose === "provision") return;
    assertInvariant(state === "free", () => `${resource} was lent while it is ${state}`);
    assertInvariant(!known.wasLent, () => `${resource} was lent twice`);
    assertInvariant(
      this.outside?.wasReady(instance) !== false,
      () => `${resource} was lent before it was ready`,
    );
    assertInvariant(
      this.outside?.isDestroyed(instance) !== true,
      () => `${resource} was lent after it was destroyed`,
    );
    known.wasLent = true;
    known.chargedTo = space ?? null;
  }

  returned({ resource, state, unused }: Return): void {
    const known = this.clusters.get(resource);
    if (known === undefined) return;
    known.state = state;
    if (unused !== true) return;
    known.wasLent = false;
    known.chargedTo = null;
  }

  isOfKind(resource: string, parameters: object | undefined): boolean {
    const known = this.clusters.get(resource);
    if (known === undefined) return true;
    const stock = this.#policies.get(known.pool)?.cluster?.parameters ?? {};
    return known.kind === JSON.stringify(Object.entries(parameters ?? stock).sort());
  }

  #countIn(pools: readonly string[], test: (state: string, hub: string | null) => boolean): number {
    let count = 0;
    for (const { pool, state, hub } of this.clusters.values()) {
      if (pools.includes(pool) && test(state, hub)) count += 1;
    }
    return count;
  }

  #up(pool: string): string[] {
    const above: string[] = [];
    for (let at: string | undefined = pool; at !== undefined && this.#policies.has(at); ) {
      above.push(at);
      at = this.#policies.get(at)?.parent;
    }
    return above;
  }

  #below(limit: string): string[] {
    return [...this.#policies.keys()].filter((pool) => this.#up(pool).includes(limit));
  }
}
