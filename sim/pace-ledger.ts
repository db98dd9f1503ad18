/**
 * Checks the paces with a second, independent method. In any period of time, a pool and each of its
 * ancestors may grant at most `burst` claims plus one claim per interval. Jitter may delay a grant
 * by a part of its interval, so this much is tolerated. Of the pace data in the event (`paced`),
 * the ledger uses only the interval.
 */
import type { EventOf } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { assertInvariant } from "./violation.ts";

interface Start {
  readonly at: number;
  readonly everyMs: number;
  readonly count: number;
  /** A gang is granted in several leases at one time. They are checked together. */
  readonly gang: string | undefined;
}

interface PoolRecord {
  policy: PoolPolicy;
  pinned: boolean;
  /** The grants since the last change of the pace. */
  starts: Start[];
}

/** Only the last grants of a pool are kept, to limit the cost of the check. */
const lookBackMax = 50;

export class PaceLedger {
  readonly #pools = new Map<string, PoolRecord>();

  poolDefined(pool: string, policy: PoolPolicy): void {
    const known = this.#pools.get(pool);
    const textOf = ({ pace, adaptive }: PoolPolicy) => JSON.stringify([pace, adaptive]);
    if (known === undefined) this.#pools.set(pool, { policy, pinned: false, starts: [] });
    else if (textOf(known.policy) !== textOf(policy)) Object.assign(known, { policy, starts: [] });
    else known.policy = policy;
  }

  /**
   * A pin or unpin replaces the interval, also the one that runs since the last grant. The recorded
   * intervals are then no longer valid.
   */
  rateChanged({ pool, cause }: EventOf<"rate-changed">): void {
    const known = this.#pools.get(pool);
    if (known === undefined) return;
    if (cause.how === "pinned") known.pinned = true;
    if (cause.how === "unpinned") known.pinned = false;
    if (cause.how === "pinned" || cause.how === "unpinned") known.starts = [];
  }

  /** A later pool with the same name is another pool. */
  poolRemoved(pool: string): void {
    this.#pools.delete(pool);
  }

  leaseGranted(
    { id, claims, paced = [] }: EventOf<"lease-granted">,
    at: number,
    poolOf: (resource: string) => string,
    gang?: string,
  ): void {
    const counts = new Map<string, number>();
    for (const { resource, into } of claims) {
      if (into === "cleaning") continue;
      for (const name of this.#withAncestors(poolOf(resource)))
        counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const [name, count] of counts) {
      const pool = this.#pools.get(name);
      if (pool === undefined || !isPaced(pool)) continue;
      const everyMs = paced.find((one) => one.pool === name)?.everyMs ?? Number.NaN;
      assertInvariant(everyMs >= 0, () => `The grant of ${id} does not record the pace of ${name}`);
      const last = pool.starts.at(-1);
      const together = gang !== undefined && last?.gang === gang && last.at === at;
      if (!together) this.#check(name, pool, at);
      pool.starts = [...pool.starts.slice(-lookBackMax), { at, everyMs, count, gang }];
    }
  }

  /** Returns the pool and all its ancestors. */
  #withAncestors(pool: string): string[] {
    const found: string[] = [];
    for (let name: string | undefined = pool; name !== undefined && this.#pools.has(name); ) {
      found.push(name);
      name = this.#pools.get(name)?.policy.parent;
    }
    return found;
  }

  /**
   * The intervals of all earlier grants must fit between them and this grant. The burst and the
   * jitter are tolerated.
   */
  #check(name: string, { policy, starts }: PoolRecord, at: number): void {
    const { burst = 1, jitter = 0 } = policy.pace ?? {};
    const slackMs = (burst - 1 + jitter) * Math.max(...starts.map(({ everyMs }) => everyMs));
    let debtMs = 0;
    for (const start of starts.toReversed()) {
      debtMs += start.count * start.everyMs;
      assertInvariant(
        // 1 ms for rounding.
        at - start.at >= debtMs - slackMs - 1,
        () =>
          `${name} granted after ${at - start.at} ms; its pace allows it after ${debtMs - slackMs} ms`,
      );
    }
  }
}

function isPaced({ policy, pinned }: PoolRecord): boolean {
  return policy.pace !== undefined || policy.adaptive?.mode === "auto" || pinned;
}
