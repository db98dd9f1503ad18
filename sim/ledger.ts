/**
 * A second, simple ledger of everything that was committed. It uses none of the core's indexes: it
 * folds the events into plain maps, and checks that each event was allowed.
 */

import type { Item } from "../src/core/model/command.ts";
import type {
  DurableEvent,
  EventOf,
  GrantedClaim,
  ResolvedAsk,
  Return,
} from "../src/core/model/event.ts";
import { purposeOf } from "../src/core/model/lifecycle.ts";
import { AdmissionLedger } from "./admission-ledger.ts";
import { ClusterLedger } from "./cluster-ledger.ts";
import { LimitLedger } from "./limit-ledger.ts";
import { PaceLedger } from "./pace-ledger.ts";
import { PreemptionLedger } from "./preemption-ledger.ts";
import { PriorityLedger } from "./priority-ledger.ts";
import { SelectionLedger } from "./selection-ledger.ts";
import { SharedLedger } from "./shared-ledger.ts";
import { SpaceLedger } from "./space-ledger.ts";
import { StarvationLedger } from "./starvation-ledger.ts";
import { assertInvariant } from "./violation.ts";

interface Thing {
  pool: string;
  /** Whether it is dynamic, and whether it is marked for deletion. */
  dynamic: boolean;
  leaving: boolean;
  state: string;
  heldBy: string | null;
  drained: boolean;
  retired: boolean;
  fence: number;
}

interface Asked {
  readonly ask: ResolvedAsk;
  readonly order: number;
}

export class Ledger {
  readonly things = new Map<string, Thing>();
  readonly waiting = new Map<string, Asked>();
  readonly leases = new Map<
    string,
    { readonly ask: ResolvedAsk; readonly claims: Map<string, string> }
  >();
  readonly ended = new Map<string, string>();
  readonly shared = new SharedLedger();
  readonly clusters = new ClusterLedger();
  readonly #selections = new SelectionLedger();
  readonly #spaces = new SpaceLedger(this);
  readonly #priorities = new PriorityLedger();
  readonly #preemption = new PreemptionLedger(this);
  readonly #starvation = new StarvationLedger({
    waiting: this.waiting,
    holdsOf: (space, pool) => this.#spaces.holdsOf(space, pool),
  });
  readonly #grantedKeys = new Map<string, string>();
  /** Leases that were taken back, and whose resources are kept for as long as the holder may work. */
  readonly #revoked = new Set<string>();
  /** The last fence of each resource, also after its removal. */
  readonly #fences = new Map<string, number>();
  /** The largest size of each dynamic pool. */
  readonly #maxima = new Map<string, number>();
  /** Whether the holder of a lease knows of it. */
  readonly #isKnown: (id: string) => boolean;
  readonly #paces = new PaceLedger();
  readonly #limits = new LimitLedger();
  readonly admissions = new AdmissionLedger();
  #order = 0;

  constructor(isKnown: (id: string) => boolean = () => false) {
    this.#isKnown = isKnown;
  }

  record(event: DurableEvent, at: number): void {
    this.shared.record(event);
    this.#selections.record(event);
    this.clusters.record(event);
    this.#spaces.record(event);
    this.#preemption.record(event, at);
    this.#recordOther(event, at);
    this.#priorities.record(event, at);
    this.#starvation.record(event, at);
  }

  #recordOther(event: DurableEvent, at: number): void {
    switch (event.type) {
      case "pool-defined":
        this.#maxima.set(event.pool, event.policy.dynamic?.max ?? Number.POSITIVE_INFINITY);
        this.#limits.defined(event.pool, event.policy);
        this.admissions.defined(event.pool, event.policy);
        return this.#paces.poolDefined(event.pool, event.policy);
      case "rate-changed":
        return this.#paces.rateChanged(event);
      case "pool-admitted":
        return this.admissions.admitted(event);
      case "pool-withheld":
        return this.admissions.withheld(event.pool);
      case "pool-removed":
        this.admissions.removed(event.pool);
        this.#limits.removed(event.pool);
        return this.#paces.poolRemoved(event.pool);
      case "resource-added":
        return this.#added(event);
      case "resource-adopted":
        Object.assign(this.#thing(event.resource), { dynamic: event.dynamic, leaving: false });
        return;
      case "resource-removed":
        assertInvariant(
          this.#thing(event.resource).heldBy === null,
          () => `${event.resource} was taken from its holder`,
        );
        this.things.delete(event.resource);
        return;
      case "cluster-abandoned":
        assertInvariant(
          this.#thing(event.resource).heldBy === null,
          () => `${event.resource} was abandoned under its holder`,
        );
        this.things.delete(event.resource);
        return;
      case "cluster-moved":
        assertInvariant(
          this.#thing(event.resource).heldBy === null,
          () => `the state of ${event.resource} changed under its holder`,
        );
        this.#thing(event.resource).state = event.state;
        return;
      case "resource-moved":
        assertInvariant(
          this.#thing(event.resource).heldBy === null,
          () => `${event.resource} was moved under its holder`,
        );
        Object.assign(this.#thing(event.resource), {
          ...{ pool: event.pool, retired: false, dynamic: false, leaving: false },
        });
        return;
      case "resource-retired":
        this.#thing(event.resource).retired = true;
        return;
      case "resource-kept":
        this.#thing(event.resource).retired = false;
        return;
      case "resource-rested":
        this.#thing(event.resource).state = event.state;
        return;
      case "resource-changed": {
        const thing = this.#thing(event.resource);
        if (event.drained !== undefined) thing.drained = event.drained;
        if (event.state === undefined) return;
        assertInvariant(
          thing.heldBy === null,
          () => `the state of ${event.resource} changed under its holder`,
        );
        // An operator who sets another state cancels the deletion.
        thing.leaving &&= event.state === "tombstone";
        this.#put(thing, event.state);
        return;
      }
      case "request-queued":
        this.#isNew(event.id);
        this.waiting.set(event.id, { ask: event.ask, order: ++this.#order });
        return;
      case "request-left":
        assertInvariant(this.waiting.delete(event.id), () => `${event.id} left without waiting`);
        this.ended.set(event.id, event.why);
        return;
      case "lease-granted":
        this.#paces.leaseGranted(
          event,
          at,
          (name) => this.#thing(name).pool,
          gangOf(event.ask ?? this.waiting.get(event.id)?.ask),
        );
        this.admissions.granted(event, at, (name) => this.#thing(name).pool);
        return this.#granted(event, at);
      case "claim-replaced":
        return this.#replaced(event, at);
      case "claim-ended": {
        const lease = this.leases.get(event.id);
        assertInvariant(
          lease?.claims.delete(event.claim) === true,
          () => `${event.id} gave ${event.claim} back twice`,
        );
        return this.#back(event.id, event.back);
      }
      case "lease-ended":
        assertInvariant(
          this.leases.get(event.id)?.claims.size === event.back.length,
          () => `${event.id} ended with other claims than it had`,
        );
        if (event.why === "uncollected") this.#untouched(event.id, event.back);
        for (const back of event.back) this.#back(event.id, back);
        this.leases.delete(event.id);
        this.#revoked.delete(event.id);
        this.ended.set(event.id, event.why);
        return;
      case "lease-revoked":
        this.#revoked.add(event.id);
        return;
      default:
        return;
    }
  }

  #added(event: EventOf<"resource-added">): void {
    const { resource, pool, state = "free" } = event;
    const dynamic = event.dynamic === true;
    assertInvariant(!this.things.has(resource), () => `${resource} was added twice`);
    const thing = { pool, state, heldBy: null, drained: false, retired: false, fence: 0 };
    this.things.set(resource, { ...thing, dynamic, leaving: false });
    if (!dynamic) return;
    const there = [...this.things.values()].filter((other) => other.pool === pool).length;
    const max = this.#maxima.get(pool) ?? 0;
    assertInvariant(there <= max, () => `${resource} was made, and ${there} are more than ${max}`);
  }

  #put(thing: Thing, state: string): void {
    thing.state = state;
    if (thing.dynamic && state === "toBeDeleted") thing.leaving = true;
  }

  /** An uncollected resource returns to its former state. */
  #untouched(id: string, back: readonly Return[]): void {
    const ask = this.leases.get(id)?.ask;
    for (const { resource, state, restsUntil } of back) {
      const thing = this.#thing(resource);
      const wanted = thing.leaving ? "toBeDeleted" : takenFrom(ask, thing.pool);
      assertInvariant(
        state === wanted && restsUntil === undefined,
        () => `${resource} was not collected by ${id}, and is ${state} instead of ${wanted}`,
      );
    }
  }

  #granted({ id, ask: eventAsk, claims }: EventOf<"lease-granted">, at: number): void {
    const asked = this.waiting.get(id);
    const ask = eventAsk ?? asked?.ask;
    if (ask === undefined) throw new Error(`Cannot record the grant of ${id}: nobody asked for it`);
    if (asked === undefined) this.#isNew(id);
    const rank = asked === undefined ? newcomer(ask) : this.#rankOf(id, asked);
    this.waiting.delete(id);
    this.#onlyOneLeasePerKey(id, ask);
    this.#wholeOrNothing(id, ask, claims);
    const granted = claims.map(({ resource }) => ({ resource, pool: this.#thing(resource).pool }));
    const isExclusive = !granted.some(({ pool }) => this.shared.isShared(pool));
    if (isExclusive) this.#selections.checkGrant(id, ask, granted);
    const pools = new Set(claims.map(({ resource }) => this.#thing(resource).pool));
    for (const pool of pools) {
      if (this.shared.isShared(pool)) continue;
      const names = claims.map(({ resource }) => resource);
      const taken = names.filter((name) => this.#thing(name).pool === pool);
      this.#nobodyOvertaken(id, { pool, from: takenFrom(ask, pool), taken, at }, rank, ask);
    }
    for (const claim of claims) {
      const { resource } = claim;
      const thing = this.#thing(resource);
      if (this.shared.has(resource)) {
        assertInvariant(
          !thing.drained && !thing.retired,
          () => `${resource} was lent while cordoned`,
        );
        continue;
      }
      this.#lend(id, claim, takenFrom(ask, thing.pool));
    }
    for (const claim of claims) this.clusters.granted(claim, ask.space);
    const counted = claims.filter(({ resource }) => !this.clusters.has(resource));
    this.#limits.granted(id, counted, this.things, (resource) => this.shared.countOn(resource));
    this.leases.set(id, {
      ask,
      claims: new Map(claims.map((claim) => [claim.id, claim.resource])),
    });
    this.#spaces.checkQuotas(id, ask, [...pools]);
    if (takenInUse(claims)) for (const pool of pools) this.#starvation.fed(ask, pool, at);
  }

  /** A lease gets another cluster for a claim that it has lost. It waited for it as any request. */
  #replaced({ id, request, granted }: EventOf<"claim-replaced">, at: number): void {
    const asked = this.waiting.get(request);
    const lease = this.leases.get(id);
    const replaces = asked?.ask.replaces;
    assertInvariant(
      replaces?.lease === id && replaces.claim === granted.id,
      () => `${request} was granted to ${id}, and nobody asked for that`,
    );
    assertInvariant(
      lease?.claims.has(granted.id) === false,
      () => `${id} got a second cluster for ${granted.id}`,
    );
    if (asked === undefined || lease === undefined) return;
    this.waiting.delete(request);
    this.ended.set(request, "replaced");
    const thing = this.#thing(granted.resource);
    const place = { pool: thing.pool, from: "free", taken: [granted.resource], at };
    this.#nobodyOvertaken(request, place, this.#rankOf(request, asked), asked.ask);
    this.#lend(id, granted, "free");
    this.clusters.granted(granted, asked.ask.space);
    lease.claims.set(granted.id, granted.resource);
  }

  /** Gives an exclusive resource to a lease. */
  #lend(id: string, { resource, fence, into = "busy" }: GrantedClaim, from: string): void {
    const thing = this.#thing(resource);
    assertInvariant(
      thing.heldBy === null,
      () => `${resource} was lent to ${id} while ${thing.heldBy} has it`,
    );
    assertInvariant(
      thing.state === from && !thing.drained && !thing.retired,
      () => `${resource} was lent to ${id} while ${JSON.stringify(thing)}`,
    );
    assertInvariant(
      !thing.leaving || from === "toBeDeleted",
      () => `${resource} was lent to ${id} although it is to go`,
    );
    assertInvariant(
      fence > (this.#fences.get(resource) ?? 0),
      () => `the fence of ${resource} did not grow: ${fence}`,
    );
    this.#fences.set(resource, fence);
    thing.heldBy = id;
    this.#put(thing, into);
  }

  /** A gang waits at the rank of its last member. */
  #rankOf(id: string, asked: Asked): Rank {
    let [last, lastId] = [asked, id];
    const { group } = asked.ask;
    if (group !== undefined && group.size > 1) {
      for (const [otherId, other] of this.waiting) {
        const isMember = other.ask.group?.name === group.name && other.ask.group.size > 1;
        if (isMember && other.order > last.order) [last, lastId] = [other, otherId];
      }
    }
    return { priority: this.#priorities.of(lastId, last.ask), order: last.order };
  }

  /** A polling client may use its key again once it knows of its lease or has none. */
  #onlyOneLeasePerKey(id: string, { key, presenceMs, holder }: ResolvedAsk): void {
    if (key === undefined) return;
    const other = this.#grantedKeys.get(key);
    const mayReuse = presenceMs !== undefined && other !== undefined && this.#isSettled(other);
    assertInvariant(
      other === undefined || mayReuse,
      () => `the key ${key} got the leases ${other} and ${id}`,
    );
    this.#grantedKeys.set(key, id);
    if (presenceMs === undefined) return;
    for (const [twice, { ask }] of this.leases) {
      const same = ask.holder === holder && ask.key !== undefined;
      assertInvariant(
        !same || this.#isSettled(twice),
        () => `${holder} asked for one and got ${twice} and ${id}`,
      );
    }
  }

  /** A revoked lease is none: whoever asks for it hears that it has ended. */
  #isSettled(id: string): boolean {
    return !this.leases.has(id) || this.#revoked.has(id) || this.#isKnown(id);
  }

  #wholeOrNothing(id: string, ask: ResolvedAsk, claims: readonly GrantedClaim[]): void {
    const got = new Map<string, number>();
    for (const { resource } of claims) {
      const { pool } = this.#thing(resource);
      got.set(pool, (got.get(pool) ?? 0) + 1);
    }
    assertInvariant(
      alternativesOf(ask).some((alternative) => sameCounts(alternative, got)),
      () => `${id} was granted in part`,
    );
  }

  /**
   * No earlier request for this pool alone, with the same or a higher priority, may still wait for
   * one of the resources. Earlier is also a request whose space has a lower share.
   */
  #nobodyOvertaken(
    id: string,
    { pool, from, taken, at }: Taken,
    rank: Rank,
    ask: ResolvedAsk,
  ): void {
    const granted = ask;
    const isStarved = this.isStarved(id, granted);
    for (const [other, { ask, order }] of this.waiting) {
      // The requests of a gang wait for everything that the gang wants.
      const alone = ask.group === undefined || ask.group.size === 1;
      const single =
        alone &&
        takenFrom(ask, pool) === from &&
        ask.items.length === 1 &&
        poolsOf(ask.items[0]).includes(pool);
      const [item] = ask.items;
      const isWanted =
        item !== undefined &&
        taken.some((name) => {
          const isOfKind = this.clusters.isOfKind(name, item.parameters);
          return isOfKind && this.#selections.isWanted(name, item);
        });
      const priority = this.#priorities.of(other, ask);
      // The members of a gang are granted one after the other at the rank of their leader.
      const isGang = (granted.group?.size ?? 1) > 1;
      const byShare = this.#spaces.compareShares(ask, granted);
      if (isGang && ask.space !== granted.space) continue;
      if (ask.space !== granted.space && !this.#spaces.knowsShares) continue;
      if (this.#isDelayedByQuota({ ask, order }, priority, pool)) continue;
      const byStarved = Number(isStarved) - Number(this.isStarved(other, ask));
      const byRank = byStarved || (isStarved ? 0 : byShare);
      const isSooner = byRank < 0 || (byRank === 0 && order < rank.order);
      const before = priority > rank.priority || (priority === rank.priority && isSooner);
      assertInvariant(!(single && isWanted && before), () => `${id} overtook ${other} in ${pool}`);
      const isPassedOver = !isStarved && priority === rank.priority && ask.space !== granted.space;
      const starves = isPassedOver && this.#starvation.mustGoFirst(other, ask, pool, at);
      assertInvariant(!(single && isWanted && starves), () => `${other} starves in ${pool}`);
    }
  }

  /** Whether a request goes ahead of the shares. The members of a gang have the rank of their leader. */
  isStarved(id: string, { group }: Pick<ResolvedAsk, "group">): boolean {
    if (group === undefined || group.size === 1) return this.#starvation.isStarved(id);
    return this.#starvation.isStarvedGroup(group.name);
  }

  /** How much a request for one pool wants. A gang wants what all its members want. */
  #countOf({ items, group }: ResolvedAsk): number {
    const isGang = group !== undefined && group.size > 1;
    const members = [...this.waiting.values()].filter(({ ask }) => ask.group?.name === group?.name);
    const wanted = isGang ? members.flatMap(({ ask }) => ask.items) : items;
    return wanted.reduce((sum, { count }) => sum + count, 0);
  }

  /** Whether a quota delays the request, or an earlier one of its space for this pool alone. */
  #isDelayedByQuota({ ask, order }: Asked, own: number, pool: string): boolean {
    if (ask.space === undefined) return false;
    for (const [id, earlier] of this.waiting) {
      const [item, ...others] = earlier.ask.items;
      const isSingle = others.length === 0 && poolsOf(item).includes(pool);
      if (earlier.ask.space !== ask.space || !isSingle) continue;
      const priority = this.#priorities.of(id, earlier.ask);
      const isAhead = priority > own || (priority === own && earlier.order <= order);
      if (isAhead && this.#spaces.isDelayed(earlier.ask, pool, this.#countOf(earlier.ask))) {
        return true;
      }
    }
    return false;
  }

  #back(id: string, back: Return): void {
    const { resource, state, restsUntil } = back;
    if (this.shared.has(resource)) return;
    const thing = this.#thing(resource);
    assertInvariant(
      thing.heldBy === id,
      () => `${id} gave back ${resource}, which ${thing.heldBy} has`,
    );
    thing.heldBy = null;
    const { clusters } = this;
    clusters.returned(back);
    this.#put(thing, restsUntil === undefined || clusters.has(resource) ? state : "cooling");
  }

  #isNew(id: string): void {
    assertInvariant(
      !this.waiting.has(id) && !this.leases.has(id) && !this.ended.has(id),
      () => `the id ${id} was used twice`,
    );
  }

  #thing(name: string): Thing {
    const thing = this.things.get(name);
    if (thing === undefined) throw new Error(`Cannot record an event: there is no ${name}`);
    return thing;
  }
}

/** The resources that a grant takes from a pool in one state. */
interface Taken {
  readonly pool: string;
  readonly from: string;
  readonly taken: readonly string[];
  readonly at: number;
}

const takenInUse = (claims: readonly GrantedClaim[]): boolean =>
  claims.every((claim) => purposeOf(claim) === "use");

const poolsOf = (item: Item | undefined): readonly string[] =>
  item === undefined ? [] : [item.pool, ...(item.anyOf ?? [])];

/** The alternatives of a request: how many of which pool. */
function alternativesOf({ items }: ResolvedAsk): Map<string, number>[] {
  let ways = [new Map<string, number>()];
  for (const item of items) {
    ways = ways.flatMap((way) =>
      poolsOf(item).map((pool) => new Map(way).set(pool, (way.get(pool) ?? 0) + item.count)),
    );
  }
  return ways;
}

function sameCounts(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([pool, count]) => b.get(pool) === count);
}

interface Rank {
  readonly priority: number;
  readonly order: number;
}

/** Identifies what is granted at one moment: a group, or all that one client takes by name. */
function gangOf(ask: ResolvedAsk | undefined): string | undefined {
  return ask?.byName ? ask.holder : ask?.group?.name;
}

/** The state that an ask wants a pool's resources in. */
function takenFrom(ask: ResolvedAsk | undefined, pool: string): string {
  return ask?.items.find((item) => poolsOf(item).includes(pool))?.state ?? "free";
}

function newcomer({ priority = 0 }: ResolvedAsk): Rank {
  return { priority, order: Number.POSITIVE_INFINITY };
}
