/**
 * A second ledger of preemption: notices go only to leases whose pools allow it, while a request waits
 * that has a higher priority or gets its own quota back, and a lease is revoked only after its notice.
 */
import type { DurableEvent, EventOf, ResolvedAsk } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import type { SpacePolicy } from "../src/core/model/space.ts";
import { assertInvariant } from "./violation.ts";

interface Books {
  readonly things: ReadonlyMap<string, { readonly pool: string }>;
  readonly leases: ReadonlyMap<
    string,
    { readonly ask: ResolvedAsk; readonly claims: ReadonlyMap<string, string> }
  >;
  readonly waiting: ReadonlyMap<string, { readonly ask: ResolvedAsk }>;
}

export class PreemptionLedger {
  readonly #books: Books;
  readonly #pools = new Map<string, PoolPolicy>();
  readonly #cohorts = new Map<string, SpacePolicy["cohort"]>();
  /** By request or lease, the priority that its client or an operator has set. */
  readonly #priorities = new Map<string, number>();
  readonly #endsBy = new Map<string, number>();

  constructor(books: Books) {
    this.#books = books;
  }

  /** Called before the event is in the books. */
  record(event: DurableEvent, at: number): void {
    switch (event.type) {
      case "pool-defined":
        this.#pools.set(event.pool, event.policy);
        return;
      case "spaces-defined":
        this.#cohorts.clear();
        for (const { name, policy } of event.spaces) this.#cohorts.set(name, policy.cohort);
        return;
      case "request-queued":
        this.#priorities.set(event.id, event.ask.priority ?? 0);
        return;
      case "lease-granted":
        if (event.ask !== undefined) this.#priorities.set(event.id, event.ask.priority ?? 0);
        return;
      case "priority-changed":
        if (event.aged !== true) this.#priorities.set(event.id, event.priority);
        return;
      case "notice-given":
        return this.#noticed(event, at);
      case "lease-revoked": {
        const endsBy = event.reason.by === "berth" ? this.#endsBy.get(event.id) : at;
        const isDue = endsBy !== undefined && endsBy <= at;
        assertInvariant(isDue, () => `${event.id} was revoked before its notice was over`);
        return;
      }
      default:
        return;
    }
  }

  #noticed({ id, endsBy }: EventOf<"notice-given">, at: number): void {
    const lease = this.#books.leases.get(id);
    assertInvariant(!this.#endsBy.has(id), () => `${id} got a second notice`);
    this.#endsBy.set(id, endsBy);
    const pools = [...(lease?.claims.values() ?? [])].map((name) => {
      return this.#pools.get(this.#books.things.get(name)?.pool ?? "");
    });
    const isAllowed = pools.length > 0 && pools.every((policy) => policy?.preempt === true);
    assertInvariant(isAllowed, () => `${id} got a notice, and its pools do not allow it`);
    const longest = Math.max(0, ...pools.map((policy) => policy?.noticeMs ?? 60_000));
    assertInvariant(endsBy === at + longest, () => `${id} got a notice until ${endsBy} at ${at}`);
    const claimant = [...this.#books.waiting].find(([waiting, { ask }]) => {
      const isHigher = (this.#priorities.get(waiting) ?? 0) > (this.#priorities.get(id) ?? 0);
      return isHigher || this.#isLender(ask.space, lease?.ask.space);
    });
    assertInvariant(claimant !== undefined, () => `${id} got a notice, and nobody may have it`);
  }

  #isLender(lender: string | undefined, borrower: string | undefined): boolean {
    if (lender === undefined || borrower === undefined || lender === borrower) return false;
    const cohort = this.#cohorts.get(lender);
    return cohort !== undefined && cohort === this.#cohorts.get(borrower);
  }
}
