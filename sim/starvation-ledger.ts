/**
 * A second ledger of starved spaces, from events alone. A space that has got nothing of a pool for the
 * patience of that pool, and holds nothing of it, must not be passed over there; and no request may
 * go ahead of the shares without that.
 */
import type { DurableEvent, ResolvedAsk } from "../src/core/model/event.ts";
import { assertInvariant } from "./violation.ts";

/** What the ledger of leases knows. */
export interface Books {
  readonly waiting: ReadonlyMap<string, { readonly ask: ResolvedAsk }>;
  /** Whether the space holds something of the pool. */
  holdsOf(space: string, pool: string): boolean;
}

export class StarvationLedger {
  readonly #books: Books;
  readonly #patience = new Map<string, number>();
  /** When a space last got something of a pool. */
  readonly #fedAt = new Map<string, number>();
  readonly #queuedAt = new Map<string, number>();
  readonly #starved = new Set<string>();
  /** The groups of starved requests. */
  readonly #groups = new Map<string, string>();

  constructor(books: Books) {
    this.#books = books;
  }

  record(event: DurableEvent, at: number): void {
    switch (event.type) {
      case "pool-defined":
        this.#patience.set(event.pool, event.policy.patienceMs);
        return;
      case "request-queued":
        this.#queuedAt.set(event.id, at);
        return;
      case "request-left":
      case "lease-granted":
        this.#forget(event.id);
        return;
      case "claim-replaced":
        this.#forget(event.request);
        return;
      case "priority-changed":
        if (event.starved !== true) return;
        this.#checkHelped(event.id, at);
        this.#starved.add(event.id);
        return this.#rememberGroup(event.id);
      default:
        return;
    }
  }

  isStarved(id: string): boolean {
    return this.#starved.has(id);
  }

  isStarvedGroup(name: string): boolean {
    return [...this.#groups.values()].includes(name);
  }

  /** The space of a lease has got something of the pool. */
  fed(space: string | undefined, pool: string, at: number): void {
    if (space !== undefined) this.#fedAt.set(`${space} ${pool}`, at);
  }

  /** Whether a waiting request should go ahead of the shares: it is the first of its space here. */
  mustGoFirst(id: string, own: ResolvedAsk, pool: string, at: number): boolean {
    const { space } = own;
    if (space === undefined || !this.#isHungry(own, at, this.#queuedAt.get(id) ?? at)) return false;
    for (const [other, { ask }] of this.#books.waiting) {
      if (ask.space !== space || !poolsOf(ask).includes(pool)) continue;
      if (other !== id) return false;
      break;
    }
    return !this.#isHelped(space);
  }

  #isHelped(space: string): boolean {
    return [...this.#starved].some((id) => this.#books.waiting.get(id)?.ask.space === space);
  }

  #rememberGroup(id: string): void {
    const group = this.#books.waiting.get(id)?.ask.group;
    if (group !== undefined && group.size > 1) this.#groups.set(id, group.name);
  }

  #forget(id: string): void {
    this.#groups.delete(id);
    this.#queuedAt.delete(id);
    this.#starved.delete(id);
  }

  #checkHelped(id: string, at: number): void {
    const ask = this.#books.waiting.get(id)?.ask;
    if (ask === undefined) throw new Error(`Cannot record that ${id} starved: it does not wait`);
    if ((ask.group?.size ?? 1) > 1) return; // It wants what all members of its gang want.
    assertInvariant(this.#isHungry(ask, at, 0), () => {
      return `${id} went ahead of the shares although ${ask.space} got its part`;
    });
  }

  /** Whether its space holds nothing of any of its pools and got nothing for their patience. */
  #isHungry(ask: ResolvedAsk, at: number, queuedAt: number): boolean {
    const { space = "" } = ask;
    return poolsOf(ask).every((pool) => {
      const since = Math.max(queuedAt, this.#fedAt.get(`${space} ${pool}`) ?? 0);
      const isLong = at - since >= (this.#patience.get(pool) ?? 0);
      return isLong && !this.#books.holdsOf(space, pool);
    });
  }
}

const poolsOf = ({ items }: ResolvedAsk): readonly string[] =>
  items.flatMap(({ pool, anyOf = [] }) => [pool, ...anyOf]);
