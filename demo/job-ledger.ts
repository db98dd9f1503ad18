/** What the jobs saw, to find out whether anything was lost or lent twice. */
import type { HeldLease } from "../src/client/queued-request.ts";
import type { ReleaseOutcome } from "../src/client/release.ts";
import { type SeenLease, violations } from "../test/lease-history.ts";

/** Answers take a moment, and a lease that ends by itself may end in it. */
const marginMs = 2_000;

export interface SeenJob {
  releasing(): void;
  /** `again`: an answer to an earlier try may be missing. */
  released(outcome: ReleaseOutcome, again: boolean): void;
}

interface Held {
  readonly lease: HeldLease;
  readonly askedAt: number;
  readonly grantedAt: number;
  /** The server may end it from then on. */
  readonly endsAt: number;
  releaseSentAt?: number;
  releasedAt?: number;
}

export class JobLedger {
  readonly #all: Held[] = [];
  readonly #lost: string[] = [];

  get leases(): number {
    return this.#all.length;
  }

  /** `dies`: the job never says that it has ended, so that its lease expires at some time. */
  granted(lease: HeldLease, askedAt: number, dies: boolean): SeenJob {
    const grantedAt = Date.now();
    const held: Held = { lease, askedAt, grantedAt, endsAt: dies ? grantedAt : endOf(lease) };
    this.#all.push(held);
    return {
      releasing: () => {
        held.releaseSentAt = Date.now();
      },
      released: (outcome, again) => {
        held.releasedAt = Date.now();
        const mayHaveEnded = again || held.releasedAt > held.endsAt - marginMs;
        if (outcome === "gone" && !mayHaveEnded) this.#lost.push(`the lease ${lease.id} was lost`);
      },
    };
  }

  /** In words. `known`: the leases that the servers have now. */
  problems(known: ReadonlySet<string>, now = Date.now()): readonly string[] {
    const missing = this.#all
      .filter(({ releaseSentAt, endsAt }) => releaseSentAt === undefined && endsAt > now + marginMs)
      .filter(({ lease }) => !known.has(lease.id))
      .map(({ lease }) => `the lease ${lease.id} is held, and no server knows it`);
    return [...this.#lost, ...missing, ...violations(this.#all.flatMap(claimsOf), [])];
  }
}

/** When the server ends it by itself, although the job lives. */
function endOf({ endsAt, claims }: HeldLease): number {
  const lifetime = endsAt === null ? Number.POSITIVE_INFINITY : Date.parse(endsAt);
  const held = claims.map(({ heldUntil }) => timeOf(heldUntil));
  return Math.min(lifetime, Math.max(...held));
}

function timeOf(instant: string | null): number {
  return instant === null ? Number.POSITIVE_INFINITY : Date.parse(instant);
}

/** A claim is certainly held until the job releases it, or the server may end it. */
function claimsOf({ lease, askedAt, grantedAt, endsAt, ...held }: Held): SeenLease[] {
  const { id, claims } = lease;
  const { releaseSentAt = Number.POSITIVE_INFINITY, releasedAt } = held;
  return claims
    .filter(({ amount }) => amount === null)
    .map(({ resource, fence, heldUntil }) => {
      const until = Math.min(releaseSentAt, endsAt, timeOf(heldUntil)) - 1;
      const times = { askedAt, grantedAt, releaseSentAt: until };
      const over = releasedAt === undefined ? undefined : { releasedAt };
      return { requestId: id, id, resource, fence, ...times, ...over };
    });
}
