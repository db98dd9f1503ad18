/**
 * Converts events to history. It depends only on the journal, so the same events always give the
 * same entries, and lost history can be built again.
 *
 * This is not the fold of the core. The core rejects a journal that contradicts itself; this fold
 * ignores unknown events and events about unknown leases.
 */
import { isPhase } from "../../core/model/cluster.ts";
import type { Item } from "../../core/model/command.ts";
import type { ResolvedAsk, Return } from "../../core/model/event.ts";
import { dirtyState, type Purpose, purposeOf } from "../../core/model/lifecycle.ts";
import type { Claim, Resource, State } from "../../core/model/state.ts";
import type { Amounts, CapacitySpec } from "../../core/shared/placement/shareable.ts";
import type { Recorded } from "../../journal/journal.ts";
import {
  type ChargeChanges,
  ChargeFold,
  type ChargeStanding,
  noChargeChanges,
} from "./charge-fold.ts";
import type {
  Asked,
  AskedItem,
  HistoryEntry,
  OpenClaim,
  OpenEntry,
  PoolLimit,
  Upkeep,
} from "./entry.ts";
import { type Members, noSizeChanges, PoolSizes, type SizeChanges } from "./pool-sizes.ts";
import { type Dirty, noUpkeepChanges, type UpkeepChanges, UpkeepFold } from "./upkeep-fold.ts";

/** The result of some events, to be written as a whole. */
export interface Changes extends SizeChanges, UpkeepChanges, ChargeChanges {
  readonly ended: HistoryEntry[];
  /** Ids that began, changed or ended. `open` contains those that have not ended. */
  readonly touched: Set<string>;
  readonly limits: PoolLimit[];
  /** Hubs that began or ceased to be away, in order. */
  readonly hubs: HubChange[];
}

export interface HubChange {
  readonly name: string;
  readonly at: number;
  readonly isAway: boolean;
}

/** The state of a fold after some event, which is enough to continue from there. */
export interface Standing extends Members, ChargeStanding {
  readonly open: ReadonlyMap<string, OpenEntry>;
  readonly dirty: ReadonlyMap<string, Dirty>;
  readonly lastNumber: number;
}

type SeenAsk = ResolvedAsk & { readonly space?: string };

/** The fields of an event that history reads. It ignores new types and new fields. */
interface SeenEvent {
  readonly type: string;
  readonly id?: string;
  readonly ask?: SeenAsk;
  readonly why?: string;
  /** Of an operator who removed a request. */
  readonly reason?: unknown;
  readonly claim?: string;
  readonly claims?: readonly GrantedClaim[];
  readonly granted?: GrantedClaim;
  readonly back?: Return | readonly Return[];
  readonly pool?: string;
  readonly resource?: string;
  readonly state?: string;
  readonly room?: CapacitySpec;
  readonly waitedFor?: string;
  readonly policy?: { readonly cost?: number; readonly limit?: number };
  readonly name?: string;
  readonly error?: string | null;
  readonly cluster?: {
    readonly instance: string;
    readonly template: string;
    readonly price: number;
  };
}

interface GrantedClaim {
  readonly id: string;
  readonly resource: string;
  readonly into?: string;
  readonly purpose?: "provision";
  readonly amount?: Amounts;
}

export class HistoryFold {
  readonly #open = new Map<string, OpenEntry>();
  readonly #sizes: PoolSizes;
  readonly #upkeep: UpkeepFold;
  readonly #charges: ChargeFold;
  #number = 0;
  #ended: HistoryEntry[] = [];
  #touched = new Set<string>();
  #limits: PoolLimit[] = [];
  #hubs: HubChange[] = [];

  constructor(standing?: Standing) {
    this.#sizes = new PoolSizes(standing);
    this.#upkeep = new UpkeepFold(standing?.dirty);
    this.#charges = new ChargeFold(standing);
    if (standing === undefined) return;
    this.#number = standing.lastNumber;
    for (const [id, entry] of standing.open) this.#open.set(id, entry);
  }

  get open(): ReadonlyMap<string, OpenEntry> {
    return this.#open;
  }

  /** Resources that are dirty, or being cleaned. */
  get dirty(): Iterable<Dirty> {
    return this.#upkeep.dirty;
  }

  /** Returns the changes since the last call. */
  take(): Changes {
    const own = {
      ...{ ended: this.#ended, touched: this.#touched },
      ...{ limits: this.#limits, hubs: this.#hubs },
    };
    const parts = { ...this.#sizes.take(), ...this.#upkeep.take(), ...this.#charges.take() };
    const changes = { ...own, ...parts };
    this.#ended = [];
    this.#touched = new Set();
    this.#limits = [];
    this.#hubs = [];
    return changes;
  }

  /** `seq` is the number of the first of these events. */
  follow({ seq, at, events }: Recorded): void {
    let number = seq;
    for (const event of events) this.#follow(event as SeenEvent, at, number++);
  }

  /**
   * Starts again from a state if the events that led to it were pruned. Takes the open leases,
   * requests and pools from the state, and drops open entries that it does not contain.
   */
  startOver(state: State, at: number): void {
    for (const id of this.#open.keys()) this.#close(id);
    this.#sizes.clear(at);
    this.#upkeep.startOver(state);
    this.#charges.startOver(state, at);
    for (const resource of state.resources.values()) this.#join(resource, at);
    for (const { name, policy } of state.pools.values()) {
      if (policy.limit !== undefined) this.#limits.push({ pool: name, at, limit: policy.limit });
    }
    for (const { name, outage } of state.hubs.values()) {
      this.#hubs.push({ name, at: outage?.since ?? at, isAway: outage !== null });
    }
    for (const request of [...state.requests.values(), ...state.leases.values()]) {
      const entry = this.#begin(request.id, request.ask, request.queuedAt, 0);
      if (request.kind === "request") continue;
      const claims = request.claims.map(openClaim);
      this.#put({ ...entry, grantedAt: request.grantedAt, claims });
    }
  }

  /** Adds the capacity of a shared resource, which an older Berth did not record. */
  learnCapacity(resource: string, room: CapacitySpec, at: number): void {
    this.#sizes.resize(resource, room, at);
  }

  get sharedPools(): readonly string[] {
    return this.#sizes.sharedPools;
  }

  #follow(event: SeenEvent, at: number, seq: number): void {
    const { id = "", resource = "", pool = "" } = event;
    switch (event.type) {
      case "request-queued":
        // A replacement belongs to a lease that has its entry already.
        if (event.ask !== undefined && event.ask.replaces === undefined) {
          this.#begin(id, event.ask, at, seq);
        }
        return;
      case "lease-granted":
        return this.#granted(event, at, seq);
      case "claim-ended":
        return this.#claimEnded(event, at);
      case "claim-replaced":
        return this.#claimReplaced(event, at);
      case "lease-ended":
      case "request-left":
        return this.#end(event, at);
      case "resource-added":
        if (event.state === dirtyState) this.#upkeep.added(resource, pool, at);
        if (event.cluster !== undefined) this.#charges.planned(resource, pool, event.cluster, at);
        return this.#sizes.join(resource, pool, at, event.room);
      case "resource-moved":
        return this.#sizes.join(resource, pool, at, event.room);
      case "resource-changed":
        return this.#changed(event, at);
      case "resource-resized":
        if (event.room !== undefined) this.#sizes.resize(resource, event.room, at);
        return;
      case "cluster-abandoned":
      case "resource-removed":
        this.#upkeep.forget(resource);
        this.#charges.removed(resource, at);
        return this.#sizes.leave(resource, at);
      case "pool-defined":
        this.#limits.push({ pool, at, limit: event.policy?.limit ?? null });
        return this.#charges.priced(pool, event.policy?.cost ?? 0);
      case "hub-probed":
        if (event.error !== undefined) this.#hub(event, at, event.error !== null);
        return;
      case "hub-retired":
        return this.#hub(event, at, false);
    }
  }

  #hub({ name = "" }: SeenEvent, at: number, isAway: boolean): void {
    this.#hubs.push({ name, at, isAway });
  }

  #begin(id: string, ask: SeenAsk, askedAt: number, askedSeq: number): OpenEntry {
    const entry: OpenEntry = {
      id,
      holder: ask.holder,
      space: ask.space ?? "default",
      priority: ask.priority ?? 0,
      items: addedUp(ask.items),
      ...(ask.group === undefined ? undefined : { group: ask.group }),
      askedAt,
      askedSeq,
      grantedAt: null,
      claims: [],
    };
    this.#put(entry);
    return entry;
  }

  #granted({ id = "", ask, claims = [], waitedFor }: SeenEvent, at: number, seq: number): void {
    const waited = this.#open.get(id);
    const entry = waited ?? (ask === undefined ? undefined : this.#begin(id, ask, at, seq));
    if (entry === undefined) return;
    const wanted = entry.items.flatMap(({ pool, count }) => Array(count).fill(pool) as string[]);
    const granted = claims.map((claim, index): OpenClaim => {
      const { id: name, resource, amount } = claim;
      const pool = this.#sizes.poolOf(resource) ?? wanted[index] ?? "";
      if (purposeOf(claim) === "use") this.#charges.granted(resource, entry.space, at);
      return { claim: name, resource, pool, ...marked(purposeOf(claim)), ...amountIn(amount) };
    });
    const known = waitedFor === undefined ? undefined : { waitedFor };
    this.#put({ ...entry, grantedAt: at, ...known, claims: granted });
  }

  #claimEnded(event: SeenEvent, at: number): void {
    const entry = this.#open.get(event.id ?? "");
    if (entry === undefined) return;
    const claims = entry.claims.filter(({ claim }) => claim !== event.claim);
    const ended = entry.claims.filter(({ claim }) => claim === event.claim);
    for (const claim of ended) this.#release(entry, claim, event, at);
    this.#put({ ...entry, claims });
  }

  /** Another cluster for a claim of a lease. */
  #claimReplaced({ id = "", granted }: SeenEvent, at: number): void {
    const entry = this.#open.get(id);
    if (entry === undefined || granted === undefined) return;
    const { id: claim, resource } = granted;
    this.#charges.granted(resource, entry.space, at);
    const claims = [...entry.claims, { claim, resource, pool: this.#sizes.poolOf(resource) ?? "" }];
    this.#put({ ...entry, claims });
  }

  #end(event: SeenEvent, at: number): void {
    const { id = "" } = event;
    const entry = this.#open.get(id);
    if (entry === undefined) return;
    for (const claim of entry.claims) this.#release(entry, claim, event, at);
    const how = howLeft(event);
    if (entry.grantedAt === null) for (const item of entry.items) this.#write(entry, item, how, at);
    this.#close(id);
  }

  #release(entry: OpenEntry, claim: OpenClaim, event: SeenEvent, at: number): void {
    const back = backOf(claim, event);
    this.#write(entry, claim, howEnded(claim, event.why ?? "", back), at);
    if (back === undefined) return;
    if (back.unused === true) this.#charges.unused(claim.resource, at);
    const { claim: name, pool, purpose = "use" } = claim;
    this.#upkeep.returned({ id: entry.id, claim: name, pool, purpose }, back, at);
  }

  #changed({ resource = "", state }: SeenEvent, at: number): void {
    const pool = this.#sizes.poolOf(resource);
    if (state !== undefined && pool !== undefined) {
      this.#upkeep.changed(resource, pool, state, at);
    }
  }

  #write(entry: OpenEntry, part: OpenClaim | AskedItem, how: string, endedAt: number): void {
    const { id, holder, space, priority, askedAt, askedSeq, grantedAt, waitedFor = null } = entry;
    const claimed = "claim" in part;
    this.#number += 1;
    this.#ended.push({
      number: this.#number,
      id,
      claim: claimed ? part.claim : null,
      holder,
      space,
      purpose: part.purpose ?? "use",
      pool: part.pool,
      resource: claimed ? part.resource : null,
      count: claimed ? 1 : part.count,
      amount: part.amount ?? null,
      asked: askedBy(entry),
      priority,
      askedAt,
      askedSeq,
      grantedAt,
      waitedFor,
      endedAt,
      how,
    });
  }

  #put(entry: OpenEntry): void {
    this.#open.set(entry.id, entry);
    this.#touched.add(entry.id);
  }

  #close(id: string): void {
    this.#open.delete(id);
    this.#touched.add(id);
  }

  #join(resource: Resource, at: number): void {
    const room = resource.sharing === "shared" ? resource.spec : undefined;
    this.#sizes.join(resource.name, resource.pool.name, at, room);
  }
}

function openClaim({ id, resource, purpose, amount }: Claim): OpenClaim {
  const { name, pool } = resource;
  const more = { ...marked(purpose), ...amountIn(amount ?? undefined) };
  return { claim: id, pool: pool.name, resource: name, ...more };
}

function amountIn(amount: Amounts | undefined): { readonly amount: Amounts } | undefined {
  return amount === undefined ? undefined : { amount };
}

function marked(purpose: Purpose): { readonly purpose: Upkeep } | undefined {
  return purpose === "use" ? undefined : { purpose };
}

/** Where the resource of a claim went. Undefined in events of an older Berth. */
function backOf({ resource }: OpenClaim, { back = [] }: SeenEvent): Return | undefined {
  const returns = "resource" in back ? [back] : back;
  return returns.find((one) => one.resource === resource);
}

/** How a request left the queue. Only an operator's removal has a reason: its client gives none. */
function howLeft({ why = "", reason }: SeenEvent): string {
  return why === "cancelled" && reason !== undefined ? "removed" : why;
}

/** How a claim ended. A release by a cleaner says whether the resource is clean now. */
function howEnded({ purpose }: OpenClaim, why: string, back: Return | undefined): string {
  if (purpose === undefined || why !== "released") return why;
  if ((back?.failures ?? 0) > 0) return "failed";
  if (purpose === "provision") return back?.state ?? why;
  return back?.state === dirtyState ? "stopped" : "cleaned";
}

/** Changes of nothing, to be completed. */
export function noChanges(): Changes {
  const parts = { ...noSizeChanges(), ...noUpkeepChanges(), ...noChargeChanges() };
  return { ended: [], touched: new Set(), limits: [], hubs: [], ...parts };
}

/** A worker takes a cluster in the state in which it holds it. */
function isWork(state: string | undefined, into = ""): boolean {
  return state === into && isPhase(into);
}

/** Items for the same pool are one item, unless they have more than a count. */
function addedUp(items: readonly Item[]): readonly AskedItem[] {
  const added = new Map<string, AskedItem>();
  for (const [index, { state, into, parameters: _, ...item }] of items.entries()) {
    const purpose = marked(isWork(state, into) ? "provision" : purposeOf({ into }));
    const key = isPlain(item) ? `${item.pool} ${purpose?.purpose}` : String(index);
    const count = (added.get(key)?.count ?? 0) + item.count;
    added.set(key, { ...item, count, ...purpose });
  }
  return [...added.values()];
}

function askedBy({ items, group }: OpenEntry): Asked | null {
  if (group === undefined && items.every(isPlain)) return null;
  return { items, ...(group === undefined ? undefined : { group }) };
}

/** Whether an item has only a pool and a count. */
function isPlain(item: AskedItem): boolean {
  const { pool: _pool, count: _count, purpose: _purpose, ...more } = item;
  return Object.keys(more).length === 0;
}
