/**
 * A second ledger of starved spaces, from events alone. A space that has had no turn in a pool for the
 * patience of that pool, and holds nothing of it, must not be passed over there; and no request may
 * go ahead of the shares without that. Whatever turns are given back, a patience passes between a
 * grant and the next request that goes ahead.
 */
import type { DurableEvent, ResolvedAsk } from "../src/core/model/event.ts";
import { assertInvariant } from "./violation.ts";

/** What the ledger of leases knows. */
export interface Books {
  readonly waiting: ReadonlyMap<string, { readonly ask: ResolvedAsk }>;
  /** Whether the space holds something of the pool. */
  holdsOf(space: string, pool: string): boolean;
}

/** Requests for one pool and requests over several have turns of their own. */
type Kind = "alone" | "several";

/** A request that goes ahead, and the turns that it took. */
interface Ahead {
  readonly ask: ResolvedAsk;
  readonly pools: readonly string[];
  readonly kind: Kind;
}

export class StarvationLedger {
  readonly #books: Books;
  readonly #patience = new Map<string, number>();
  /** The last turn of a space in a pool: it got something, or a request of it went ahead. */
  readonly #turnAt = new Map<string, number>();
  /** The last grant to a space in a pool. */
  readonly #fedAt = new Map<string, number>();
  readonly #queuedAt = new Map<string, number>();
  readonly #asks = new Map<string, ResolvedAsk>();
  readonly #starved = new Map<string, Ahead>();

  constructor(books: Books) {
    this.#books = books;
  }

  record(event: DurableEvent, at: number): void {
    switch (event.type) {
      case "pool-defined":
        this.#patience.set(event.pool, Math.max(event.policy.patienceMs, 1_000));
        return;
      case "request-queued":
        this.#queuedAt.set(event.id, at);
        this.#asks.set(event.id, event.ask);
        return;
      case "request-left":
        this.#left(event.id);
        return this.#forget(event.id);
      case "lease-granted":
        return this.#forget(event.id);
      case "claim-replaced":
        return this.#forget(event.request);
      case "priority-changed":
        if (event.starved === true) this.#wentAhead(event.id, at);
        return;
      default:
        return;
    }
  }

  isStarved(id: string): boolean {
    return this.#starved.has(id);
  }

  isStarvedGroup(name: string): boolean {
    return [...this.#starved.values()].some(({ ask }) => isInGang(ask, name));
  }

  /** A lease got something of the pool, so that no other request of its space goes ahead there. */
  fed({ space, group: own }: ResolvedAsk, pool: string, at: number): void {
    if (space === undefined) return;
    this.#setTurns(space, [pool], ["alone", "several"], at);
    this.#fedAt.set(`${space} ${pool}`, at);
    for (const [id, { ask, pools }] of this.#starved) {
      // The members of a gang are granted together.
      const isSame = isGang(own) && own?.name === ask.group?.name;
      if (ask.space !== space || isSame) continue;
      if (pools.includes(pool)) this.#starved.delete(id);
    }
  }

  /** Whether a waiting request should go ahead of the shares: it is the first of its space here. */
  mustGoFirst(id: string, own: ResolvedAsk, pool: string, at: number): boolean {
    const { space } = own;
    if (space === undefined || !this.#isHungry(own, at, this.#queuedAt.get(id) ?? at)) return false;
    for (const [other, { ask }] of this.#books.waiting) {
      if (ask.space !== space || !poolsOf(ask).includes(pool)) continue;
      return other === id && !this.#starved.has(id);
    }
    return false;
  }

  #wentAhead(id: string, at: number): void {
    const ask = this.#books.waiting.get(id)?.ask;
    if (ask === undefined) throw new Error(`Cannot record that ${id} starved: it does not wait`);
    const { space = "" } = ask;
    const [pools, kind] = [this.#poolsOf(ask), this.#kindOf(ask)];
    const fedSoon = pools.find((pool) => {
      const fedAt = this.#fedAt.get(`${space} ${pool}`) ?? Number.NEGATIVE_INFINITY;
      return at - fedAt < (this.#patience.get(pool) ?? 0);
    });
    assertInvariant(fedSoon === undefined, () => {
      return `${id} went ahead of the shares too soon after a grant of ${fedSoon} to ${space}`;
    });
    assertInvariant(this.#isHungry(ask, at, 0), () => {
      return `${id} went ahead of the shares although ${space} got its part`;
    });
    this.#setTurns(space, pools, [kind], at);
    this.#starved.set(id, { ask, pools, kind });
  }

  /** Another one may take its place at once. A gang that loses a member goes ahead no more. */
  #left(id: string): void {
    const name = gangOf(this.#asks.get(id));
    for (const [other, { ask, pools, kind }] of this.#starved) {
      if (other !== id && (name === undefined || !isInGang(ask, name))) continue;
      for (const pool of pools) this.#turnAt.delete(`${ask.space} ${pool} ${kind}`);
      this.#starved.delete(other);
    }
  }

  #forget(id: string): void {
    this.#queuedAt.delete(id);
    this.#asks.delete(id);
    this.#starved.delete(id);
  }

  #setTurns(space: string, pools: readonly string[], of: readonly Kind[], at: number): void {
    for (const pool of pools) {
      for (const kind of of) this.#turnAt.set(`${space} ${pool} ${kind}`, at);
    }
  }

  /** Whether its space holds nothing of any of its pools and had no turn for their patience. */
  #isHungry(ask: ResolvedAsk, at: number, queuedAt: number): boolean {
    const { space = "" } = ask;
    const kind = this.#kindOf(ask);
    return this.#poolsOf(ask).every((pool) => {
      const since = Math.max(queuedAt, this.#turnAt.get(`${space} ${pool} ${kind}`) ?? 0);
      const isLong = at - since >= (this.#patience.get(pool) ?? 0);
      return isLong && !this.#books.holdsOf(space, pool);
    });
  }

  #kindOf(ask: ResolvedAsk): Kind {
    const isAlone = ask.items.length === 1 && !isGang(ask.group);
    return isAlone || new Set(this.#poolsOf(ask)).size === 1 ? "alone" : "several";
  }

  /** The pools of a request; of a gang those of all members, of which each has one pool for an item. */
  #poolsOf(ask: ResolvedAsk): readonly string[] {
    const { group } = ask;
    if (!isGang(group)) return poolsOf(ask);
    const members = [...this.#books.waiting.values()].filter((other) => {
      return other.ask.group?.name === group?.name;
    });
    return members.flatMap((member) => member.ask.items.map(({ pool }) => pool));
  }
}

const isGang = (group: ResolvedAsk["group"]): boolean => group !== undefined && group.size > 1;

const gangOf = (ask: ResolvedAsk | undefined): string | undefined =>
  isGang(ask?.group) ? ask?.group?.name : undefined;

const isInGang = (ask: ResolvedAsk, name: string): boolean => gangOf(ask) === name;

const poolsOf = ({ items }: ResolvedAsk): readonly string[] =>
  items.flatMap(({ pool, anyOf = [] }) => [pool, ...anyOf]);
