/**
 * Converts events to history. It depends only on the journal, so the same events always give the
 * same entries, and lost history can be built again.
 *
 * This is not the fold of the core. The core rejects a journal that contradicts itself; this fold
 * ignores unknown events and events about unknown leases.
 */
import type { Item } from "../../core/model/command.ts";
import type { ResolvedAsk, Return } from "../../core/model/event.ts";
import { busyState, dirtyState, type Purpose, purposeOf } from "../../core/model/lifecycle.ts";
import type { State } from "../../core/model/state.ts";
import type { Recorded } from "../../journal/journal.ts";
import type { AskedItem, HistoryEntry, OpenClaim, OpenEntry, PoolSize } from "./entry.ts";

/** The result of some events, to be written as a whole. */
export interface Changes {
  readonly ended: HistoryEntry[];
  /** Ids that began, changed or ended. `open` contains those that have not ended. */
  readonly touched: Set<string>;
  /** Resources with their current pool; null if the resource was removed. */
  readonly members: Map<string, string | null>;
  readonly sizes: Map<string, PoolSize>;
}

/** The state of a fold after some event, which is enough to continue from there. */
export interface Standing {
  readonly open: ReadonlyMap<string, OpenEntry>;
  readonly members: ReadonlyMap<string, string>;
  readonly lastNumber: number;
}

type Asked = ResolvedAsk & { readonly space?: string };

/** The fields of an event that history reads. It ignores new types and new fields. */
interface SeenEvent {
  readonly type: string;
  readonly id?: string;
  readonly ask?: Asked;
  readonly why?: string;
  readonly claim?: string;
  readonly claims?: readonly GrantedClaim[];
  readonly back?: Return | readonly Return[];
  readonly pool?: string;
  readonly resource?: string;
  readonly waitedFor?: string;
}

interface GrantedClaim {
  readonly id: string;
  readonly resource: string;
  readonly into?: string;
}

export class HistoryFold {
  readonly #open = new Map<string, OpenEntry>();
  readonly #members = new Map<string, string>();
  readonly #sizes = new Map<string, number>();
  #number = 0;
  #changes = noChanges();

  constructor(standing?: Standing) {
    if (standing === undefined) return;
    this.#number = standing.lastNumber;
    for (const [id, entry] of standing.open) this.#open.set(id, entry);
    for (const [resource, pool] of standing.members) {
      this.#members.set(resource, pool);
      this.#sizes.set(pool, (this.#sizes.get(pool) ?? 0) + 1);
    }
  }

  get open(): ReadonlyMap<string, OpenEntry> {
    return this.#open;
  }

  /** Returns the changes since the last call. */
  take(): Changes {
    const changes = this.#changes;
    this.#changes = noChanges();
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
    for (const resource of [...this.#members.keys()]) this.#leave(resource, at);
    for (const { name, pool } of state.resources.values()) this.#join(name, pool.name, at);
    for (const request of [...state.requests.values(), ...state.leases.values()]) {
      const entry = this.#begin(request.id, request.ask, request.queuedAt, 0);
      if (request.kind === "request") continue;
      const claims = request.claims.map(({ id, resource, purpose }) => {
        return { claim: id, pool: resource.pool.name, resource: resource.name, ...marked(purpose) };
      });
      this.#put({ ...entry, grantedAt: request.grantedAt, claims });
    }
  }

  #follow(event: SeenEvent, at: number, seq: number): void {
    const { id = "", resource = "", pool = "" } = event;
    switch (event.type) {
      case "request-queued":
        if (event.ask !== undefined) this.#begin(id, event.ask, at, seq);
        return;
      case "lease-granted":
        return this.#granted(event, at, seq);
      case "claim-ended":
        return this.#claimEnded(event, at);
      case "lease-ended":
      case "request-left":
        return this.#ended(event, at);
      case "resource-added":
      case "resource-moved":
        this.#leave(resource, at);
        return this.#join(resource, pool, at);
      case "resource-removed":
        return this.#leave(resource, at);
    }
  }

  #begin(id: string, ask: Asked, askedAt: number, askedSeq: number): OpenEntry {
    const entry: OpenEntry = {
      id,
      holder: ask.holder,
      space: ask.space ?? "default",
      priority: ask.priority ?? 0,
      items: addedUp(ask.items),
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
    const granted = claims.map(({ id: claim, resource, into = busyState }, index): OpenClaim => {
      const pool = this.#members.get(resource) ?? wanted[index] ?? "";
      return { claim, resource, pool, ...marked(purposeOf(into)) };
    });
    const known = waitedFor === undefined ? undefined : { waitedFor };
    this.#put({ ...entry, grantedAt: at, ...known, claims: granted });
  }

  #claimEnded(event: SeenEvent, at: number): void {
    const entry = this.#open.get(event.id ?? "");
    if (entry === undefined) return;
    const claims = entry.claims.filter(({ claim }) => claim !== event.claim);
    const ended = entry.claims.filter(({ claim }) => claim === event.claim);
    for (const claim of ended) this.#write(entry, claim, howEnded(claim, event), at);
    this.#put({ ...entry, claims });
  }

  #ended(event: SeenEvent, at: number): void {
    const { id = "", why = "" } = event;
    const entry = this.#open.get(id);
    if (entry === undefined) return;
    for (const claim of entry.claims) this.#write(entry, claim, howEnded(claim, event), at);
    if (entry.grantedAt === null) for (const item of entry.items) this.#write(entry, item, why, at);
    this.#close(id);
  }

  #write(entry: OpenEntry, part: OpenClaim | AskedItem, how: string, endedAt: number): void {
    const { id, holder, space, priority, askedAt, askedSeq, grantedAt, waitedFor = null } = entry;
    const claimed = "claim" in part;
    this.#number += 1;
    this.#changes.ended.push({
      number: this.#number,
      id,
      claim: claimed ? part.claim : null,
      holder,
      space,
      purpose: part.purpose ?? "use",
      pool: part.pool,
      resource: claimed ? part.resource : null,
      count: claimed ? 1 : part.count,
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
    this.#changes.touched.add(entry.id);
  }

  #close(id: string): void {
    this.#open.delete(id);
    this.#changes.touched.add(id);
  }

  #join(resource: string, pool: string, at: number): void {
    this.#members.set(resource, pool);
    this.#changes.members.set(resource, pool);
    this.#resize(pool, 1, at);
  }

  #leave(resource: string, at: number): void {
    const pool = this.#members.get(resource);
    if (pool === undefined) return;
    this.#members.delete(resource);
    this.#changes.members.set(resource, null);
    this.#resize(pool, -1, at);
  }

  #resize(pool: string, by: number, at: number): void {
    const size = (this.#sizes.get(pool) ?? 0) + by;
    this.#sizes.set(pool, size);
    this.#changes.sizes.set(`${at} ${pool}`, { pool, at, size });
  }
}

function noChanges(): Changes {
  return { ended: [], touched: new Set(), members: new Map(), sizes: new Map() };
}

function marked(purpose: Purpose): { readonly purpose: "clean" } | undefined {
  return purpose === "clean" ? { purpose } : undefined;
}

/** How a claim ended. A release by a cleaner says whether the resource is clean now. */
function howEnded({ resource, purpose }: OpenClaim, { why = "", back = [] }: SeenEvent): string {
  if (purpose !== "clean" || why !== "released") return why;
  const returns = "resource" in back ? [back] : back;
  const { state, failures = 0 } = returns.find((one) => one.resource === resource) ?? {};
  if (failures > 0) return "failed";
  return state === dirtyState ? "stopped" : "cleaned";
}

function addedUp(items: readonly Item[]): readonly AskedItem[] {
  const counts = new Map<string, AskedItem>();
  for (const { pool, count, into = busyState } of items) {
    const key = `${purposeOf(into)} ${pool}`;
    const sum = (counts.get(key)?.count ?? 0) + count;
    counts.set(key, { pool, count: sum, ...marked(purposeOf(into)) });
  }
  return [...counts.values()];
}
