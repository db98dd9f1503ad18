/**
 * The plan of a pool of clusters: which to create, wake, put to sleep and destroy. A pure function of
 * a snapshot of the pool. It sees what is being created and destroyed, so it waits for its own
 * effects, and a second run right after the first finds nothing to do.
 *
 * The order matters where `concurrent` allows only a few: clusters for waiting requests first, then
 * the stock, then broken and used ones go, then surplus, and last one outdated cluster at a time.
 */
import type { ResourceName } from "../model/ids.ts";

/** What a cluster is to the plan. */
export type Role =
  /** A holder has it. */
  | "lent"
  | "creating"
  | "free"
  | "stopping"
  | "hibernated"
  | "resuming"
  /** Broken or used: it shall be destroyed as soon as `concurrent` allows. */
  | "doomed"
  | "destroying"
  /** An operator keeps it: it is neither lent nor destroyed. */
  | "kept"
  /** The same, and it is still being created. */
  | "kept in creation";

export interface PlannedCluster {
  readonly name: ResourceName;
  readonly role: Role;
  /** The text of its parameters (`parametersKeyOf`). */
  readonly kind: string;
  /** The pool's template has changed since it was planned. */
  readonly isStale: boolean;
  /** Its hub is given up: it goes even if nothing can be made in its place. */
  readonly mustLeave: boolean;
  /** It takes unusually long to wake, so another one is woken beside it. */
  readonly isLate: boolean;
  /** Its hub cannot be reached: whatever is begun there does not count against `concurrent`. */
  readonly isFrozen: boolean;
  /** Larger: planned later. */
  readonly age: number;
}

export interface PoolSnapshot {
  /** What the pool keeps, as far as its limits and those of its hubs leave room beside what is lent. */
  readonly size: number;
  /** What it is to keep, with room for it. */
  readonly configuredSize: number;
  readonly running: number;
  readonly max: number;
  readonly concurrent: number;
  readonly hibernates: boolean;
  /** The kind of cluster that the pool keeps. */
  readonly stock: string;
  readonly clusters: readonly PlannedCluster[];
  /** How many clusters of each kind the waiting requests need, first in the queue first. */
  readonly demand: ReadonlyMap<string, number>;
  /** The same, with requests for which other pools make one: they may have one of this pool too. */
  readonly accepted: ReadonlyMap<string, number>;
  /** How many more clusters the limits above the pool allow. */
  readonly room: number;
  /** Of these, how many the waiting requests of other pools need. Stock leaves them. */
  readonly wantedByOthers: number;
  /** Why nothing is kept: the pool was removed, or has no template any longer. */
  readonly closed: string | null;
}

export type Action =
  | {
      readonly do: "create";
      readonly kind: string;
      readonly why: string;
      /** No request waits for it. */
      readonly isStock: boolean;
    }
  | { readonly do: "destroy" | "wake" | "stop"; readonly name: ResourceName; readonly why: string };

/** Returns what to do now, in order. Throws if the plan undoes what it does, which is a bug. */
export function planPool(snapshot: PoolSnapshot): readonly Action[] {
  const plan = new Plan(snapshot);
  const actionsMax = mostActions(snapshot);
  for (let before = -1; before !== plan.actions.length; ) {
    before = plan.actions.length;
    if (before > actionsMax) throw new Error("the plan of its clusters contradicts itself");
    plan.create();
    plan.destroyDoomed();
    plan.destroySurplus();
    plan.replaceStale();
    plan.setPower();
  }
  return plan.actions;
}

/** A plan that is right does less: no cluster is moved more than three times. */
function mostActions({ clusters, size, demand }: PoolSnapshot): number {
  let count = clusters.length + size;
  for (const wanted of demand.values()) count += wanted;
  return 3 * count + 10;
}

const usableRoles: ReadonlySet<Role> = new Set<Role>([
  "creating",
  "free",
  "stopping",
  "hibernated",
  "resuming",
]);

const busyRoles: ReadonlySet<Role> = new Set<Role>(["creating", "destroying", "kept in creation"]);

/** How many are being created or destroyed. */
export function busyIn(clusters: readonly PlannedCluster[]): number {
  return clusters.filter(({ role, isFrozen }) => busyRoles.has(role) && !isFrozen).length;
}

/** Whether a waiting request can have the cluster sooner or later. */
export function isUsable({ role }: Pick<PlannedCluster, "role">): boolean {
  return usableRoles.has(role);
}

interface Draft extends PlannedCluster {
  role: Role;
}

class Plan {
  readonly actions: Action[] = [];
  readonly #pool: PoolSnapshot;
  readonly #clusters: Draft[];
  readonly #kinds: ReadonlySet<string>;
  #room: number;

  constructor(pool: PoolSnapshot) {
    this.#pool = pool;
    this.#clusters = pool.clusters.map((cluster) => ({ ...cluster }));
    this.#kinds = new Set([
      ...pool.accepted.keys(),
      pool.stock,
      ...pool.clusters.map(({ kind }) => kind),
    ]);
    this.#room = pool.room;
  }

  create(): void {
    if (this.#pool.closed !== null) return;
    for (const [kind, count] of this.#pool.demand) {
      if (count === 0) continue;
      const why = count === 1 ? "a request waits for it" : `${count} are waited for`;
      this.#createSome(kind, count - this.#usable(kind).length, why);
    }
    const { stock, size, wantedByOthers } = this.#pool;
    const missing = size + this.#demandOf(stock) - this.#usable(stock).length;
    this.#createSome(stock, missing, keepsText(this.#pool), wantedByOthers);
  }

  /** `left`: what stock leaves to the requests of other pools. */
  #createSome(kind: string, missing: number, why: string, left?: number): void {
    const { max } = this.#pool;
    const capacity = Math.min(max - this.#clusters.length, this.#room - (left ?? 0));
    const count = Math.min(missing, capacity, this.#concurrency());
    for (let made = 0; made < count; made++) {
      const name = `new ${this.#clusters.length}` as ResourceName;
      const age = Number.MAX_SAFE_INTEGER;
      const plain = { isStale: false, mustLeave: false, isLate: false, isFrozen: false };
      this.#clusters.push({ name, role: "creating", kind, ...plain, age });
      this.#room -= 1;
      this.actions.push({ do: "create", kind, why, isStock: left !== undefined });
    }
  }

  destroyDoomed(): void {
    for (const cluster of oldestFirst(this.#withRole("doomed"))) this.#destroy(cluster, "");
  }

  /** Those that must leave, then the newest that are not ready yet, then the longest asleep, then the oldest that are awake. */
  destroySurplus(): void {
    for (const kind of this.#kinds) {
      const usable = this.#usable(kind);
      const surplus = usable.length - this.#keptOf(kind) - this.#acceptedOf(kind);
      if (surplus <= 0) continue;
      const ordered = [
        ...oldestFirst(usable.filter(({ role }) => role === "creating")).reverse(),
        ...oldestFirst(usable.filter(({ role }) => role === "hibernated")),
        ...oldestFirst(usable.filter(({ role }) => role === "stopping")),
        ...oldestFirst(usable.filter(({ role }) => role === "resuming")),
        ...oldestFirst(usable.filter(({ role }) => role === "free")),
      ];
      const inOrder = ordered.toSorted((a, b) => Number(b.mustLeave) - Number(a.mustLeave));
      for (const cluster of inOrder.slice(0, surplus))
        this.#destroy(cluster, this.#notNeeded(kind));
    }
  }

  /** One at a time, and only while nothing is missing and nothing is being created. */
  replaceStale(): void {
    const isBusy = this.#withRole("creating").length > 0 || this.#isShort();
    if (isBusy && this.#room > 0) return;
    const stale = oldestFirst(
      this.#clusters.filter((one) => (isBusy ? one.mustLeave : one.isStale) && isUsable(one)),
    );
    const awaited = (one: Draft) => this.#acceptedOf(one.kind) > 0 && one.role !== "hibernated";
    const replaced = stale.find((one) => !awaited(one));
    if (replaced !== undefined) this.#destroy(replaced, "its template has changed");
  }

  #isShort(): boolean {
    for (const kind of this.#kinds) {
      if (this.#usable(kind).length < this.#keptOf(kind) + this.#demandOf(kind)) return true;
    }
    return false;
  }

  setPower(): void {
    for (const kind of this.#kinds) {
      const running = kind === this.#pool.stock ? this.#pool.running : 0;
      const demand = this.#acceptedOf(kind);
      const usable = oldestFirst(this.#usable(kind));
      const free = usable.filter(({ role }) => role === "free");
      const waking = usable.filter(({ role, isLate }) => role === "resuming" && !isLate);
      const missing = running + demand - free.length - waking.length;
      const why = demand > 0 ? "a request waits for it" : `the pool keeps ${running} awake`;
      if (missing > 0) this.#wake(usable, missing, why);
      // One that wakes up is waited for: to stop it half way would not be faster.
      const surplus = free.length - running - demand;
      if (surplus > 0 && this.#pool.hibernates) {
        const asleep = `the pool keeps ${running} awake`;
        for (const one of free.slice(-surplus)) this.#move(one, "stopping", "stop", asleep);
      }
    }
  }

  #wake(usable: readonly Draft[], missing: number, why: string): void {
    const asleep = [
      ...usable.filter(({ role }) => role === "hibernated"),
      ...usable.filter(({ role }) => role === "stopping"),
    ];
    for (const one of asleep.slice(0, missing)) this.#move(one, "resuming", "wake", why);
  }

  #destroy(cluster: Draft, why: string): void {
    // Whatever is being created already counts against `concurrent`.
    const isCounted = cluster.role === "creating" || cluster.isFrozen;
    if (!isCounted && this.#concurrency() <= 0) return;
    this.#move(cluster, "destroying", "destroy", why);
  }

  #move(cluster: Draft, role: Role, how: "destroy" | "wake" | "stop", why: string): void {
    cluster.role = role;
    this.actions.push({ do: how, name: cluster.name, why });
  }

  #concurrency(): number {
    return this.#pool.concurrent - busyIn(this.#clusters);
  }

  #notNeeded(kind: string): string {
    const { closed, stock } = this.#pool;
    if (closed !== null) return closed;
    return kind === stock ? keepsText(this.#pool, "only ") : "no request waits for its parameters";
  }

  #keptOf(kind: string): number {
    return kind === this.#pool.stock && this.#pool.closed === null ? this.#pool.size : 0;
  }

  #demandOf(kind: string): number {
    return this.#pool.closed === null ? (this.#pool.demand.get(kind) ?? 0) : 0;
  }

  #acceptedOf(kind: string): number {
    return this.#pool.closed === null ? (this.#pool.accepted.get(kind) ?? 0) : 0;
  }

  #usable(kind: string): Draft[] {
    return this.#clusters.filter((one) => one.kind === kind && isUsable(one));
  }

  #withRole(role: Role): Draft[] {
    return this.#clusters.filter((one) => one.role === role);
  }
}

/** `the pool keeps 3, and there is room for 2`: its page and its configuration say 3. */
function keepsText({ size, configuredSize }: PoolSnapshot, only = ""): string {
  const room = size === configuredSize ? "" : `, and there is room for ${size}`;
  return `the pool keeps ${room === "" ? only : ""}${configuredSize}${room}`;
}

function oldestFirst(clusters: readonly Draft[]): Draft[] {
  return clusters.toSorted((a, b) => a.age - b.age);
}
