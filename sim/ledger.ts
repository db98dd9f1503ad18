/**
 * A second, simple-minded account of everything that was committed. It knows nothing of the core's
 * indexes: it folds the events into plain maps, and checks of each event that it may have happened.
 */
import type { Item } from "../src/core/command.ts";
import type { DurableEvent, GrantedClaim, ResolvedAsk, Return } from "../src/core/event.ts";
import { LimitLedger } from "./limit-ledger.ts";
import { PaceLedger } from "./pace-ledger.ts";
import { RoomLedger } from "./room-ledger.ts";
import { insist } from "./violation.ts";

interface Thing {
  pool: string;
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
  readonly rooms = new RoomLedger();
  readonly #grantedKeys = new Map<string, string>();
  /** Fences outlive the resources that they were given for. */
  readonly #fences = new Map<string, number>();
  readonly #paces = new PaceLedger();
  readonly #limits = new LimitLedger();
  #order = 0;

  record(event: DurableEvent, at: number): void {
    this.rooms.record(event);
    switch (event.type) {
      case "pool-defined":
        this.#limits.defined(event.pool, event.policy);
        return this.#paces.defined(event.pool, event.policy);
      case "pool-removed":
        this.#limits.removed(event.pool);
        return this.#paces.removed(event.pool);
      case "resource-added":
        insist(!this.things.has(event.resource), () => `${event.resource} was added twice`);
        this.things.set(event.resource, {
          pool: event.pool,
          state: "free",
          heldBy: null,
          drained: false,
          retired: false,
          fence: 0,
        });
        return;
      case "resource-removed":
        insist(
          this.#thing(event.resource).heldBy === null,
          () => `${event.resource} was taken from its holder`,
        );
        this.things.delete(event.resource);
        return;
      case "resource-moved":
        insist(
          this.#thing(event.resource).heldBy === null,
          () => `${event.resource} was moved under its holder`,
        );
        Object.assign(this.#thing(event.resource), { pool: event.pool, retired: false });
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
        insist(
          thing.heldBy === null,
          () => `the state of ${event.resource} changed under its holder`,
        );
        thing.state = event.state;
        return;
      }
      case "request-queued":
        this.#isNew(event.id);
        this.waiting.set(event.id, { ask: event.ask, order: ++this.#order });
        return;
      case "request-left":
        insist(this.waiting.delete(event.id), () => `${event.id} left without waiting`);
        this.ended.set(event.id, event.why);
        return;
      case "lease-granted":
        this.#paces.granted(event, at, (name) => this.#thing(name).pool);
        return this.#granted(event.id, event.ask, event.claims);
      case "claim-ended": {
        const lease = this.leases.get(event.id);
        insist(
          lease?.claims.delete(event.claim) === true,
          () => `${event.id} gave ${event.claim} back twice`,
        );
        return this.#back(event.id, event.back);
      }
      case "lease-ended":
        insist(
          this.leases.get(event.id)?.claims.size === event.back.length,
          () => `${event.id} ended with other claims than it had`,
        );
        for (const back of event.back) this.#back(event.id, back);
        this.leases.delete(event.id);
        this.ended.set(event.id, event.why);
        return;
      default:
        return;
    }
  }

  #granted(id: string, told: ResolvedAsk | undefined, claims: readonly GrantedClaim[]): void {
    const asked = this.waiting.get(id);
    const ask = told ?? asked?.ask;
    if (ask === undefined) throw new Error(`Cannot record the grant of ${id}: nobody asked for it`);
    if (asked === undefined) this.#isNew(id);
    const rank = { priority: ask.priority ?? 0, order: asked?.order ?? Number.POSITIVE_INFINITY };
    this.waiting.delete(id);
    this.#onlyOneLeasePerKey(id, ask.key);
    this.#wholeOrNothing(id, ask, claims);
    const pools = new Set(claims.map(({ resource }) => this.#thing(resource).pool));
    for (const pool of pools) {
      if (!this.rooms.isShared(pool)) this.#nobodyOvertaken(id, pool, rank);
    }
    for (const { resource, fence } of claims) {
      const thing = this.#thing(resource);
      if (this.rooms.has(resource)) {
        insist(!thing.drained && !thing.retired, () => `${resource} was lent while cordoned`);
        continue;
      }
      insist(
        thing.heldBy === null,
        () => `${resource} was lent to ${id} while ${thing.heldBy} has it`,
      );
      insist(
        thing.state === "free" && !thing.drained && !thing.retired,
        () => `${resource} was lent to ${id} while ${JSON.stringify(thing)}`,
      );
      insist(
        fence > (this.#fences.get(resource) ?? 0),
        () => `the fence of ${resource} did not grow: ${fence}`,
      );
      this.#fences.set(resource, fence);
      thing.heldBy = id;
      thing.state = "busy";
    }
    this.#limits.granted(id, claims, this.things);
    this.leases.set(id, {
      ask,
      claims: new Map(claims.map((claim) => [claim.id, claim.resource])),
    });
  }

  #onlyOneLeasePerKey(id: string, key: string | undefined): void {
    if (key === undefined) return;
    const other = this.#grantedKeys.get(key);
    insist(other === undefined, () => `the key ${key} got the leases ${other} and ${id}`);
    this.#grantedKeys.set(key, id);
  }

  #wholeOrNothing(id: string, ask: ResolvedAsk, claims: readonly GrantedClaim[]): void {
    const got = new Map<string, number>();
    for (const { resource } of claims) {
      const { pool } = this.#thing(resource);
      got.set(pool, (got.get(pool) ?? 0) + 1);
    }
    insist(
      waysOf(ask).some((way) => sameCounts(way, got)),
      () => `${id} was granted in part`,
    );
  }

  /** Whoever asked before, with no lower priority, for this pool alone, must not still wait. */
  #nobodyOvertaken(id: string, pool: string, rank: { priority: number; order: number }): void {
    for (const [other, { ask, order }] of this.waiting) {
      // Those of a company stand in line for all that their company wants.
      const alone = ask.group === undefined || ask.group.size === 1;
      const single = alone && ask.items.length === 1 && poolsOf(ask.items[0]).includes(pool);
      const priority = ask.priority ?? 0;
      const before = priority > rank.priority || (priority === rank.priority && order < rank.order);
      insist(!(single && before), () => `${id} overtook ${other} in ${pool}`);
    }
  }

  #back(id: string, { resource, state, restsUntil }: Return): void {
    if (this.rooms.has(resource)) return;
    const thing = this.#thing(resource);
    insist(thing.heldBy === id, () => `${id} gave back ${resource}, which ${thing.heldBy} has`);
    thing.heldBy = null;
    thing.state = restsUntil === undefined ? state : "cooling";
  }

  #isNew(id: string): void {
    insist(
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

const poolsOf = (item: Item | undefined): readonly string[] =>
  item === undefined ? [] : [item.pool, ...(item.anyOf ?? [])];

/** Everything that would be all of it: how many of which pool. */
function waysOf({ items }: ResolvedAsk): Map<string, number>[] {
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
