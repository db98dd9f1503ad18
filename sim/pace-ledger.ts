/**
 * A second ledger of the paces, by counting: every period of time has at most the burst plus one
 * start for each interval in it, in the pool and in all its ancestors. Jitter may shift a start by
 * its share of an interval. From a grant's event it uses only the interval.
 */
import type { EventOf } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { insist } from "./violation.ts";

interface Start {
  readonly at: number;
  readonly everyMs: number;
  readonly count: number;
  /** The starts of a gang at one moment are checked as one. */
  readonly gang: string | undefined;
}

interface Paced {
  policy: PoolPolicy;
  pinned: boolean;
  /** The starts since the last change of the pace: one per claim, at the time of its grant. */
  starts: Start[];
}

/** Limits the cost of the check: a violation over a long period appears in a shorter one first. */
const lookBackMax = 50;

export class PaceLedger {
  readonly #pools = new Map<string, Paced>();

  defined(pool: string, policy: PoolPolicy): void {
    const known = this.#pools.get(pool);
    const textOf = ({ pace, adaptive }: PoolPolicy) => JSON.stringify([pace, adaptive]);
    if (known === undefined) this.#pools.set(pool, { policy, pinned: false, starts: [] });
    else if (textOf(known.policy) !== textOf(policy)) Object.assign(known, { policy, starts: [] });
    else known.policy = policy;
  }

  /** A rate that an operator sets counts from the last grant on. */
  rated({ pool, cause }: EventOf<"rate-changed">): void {
    const known = this.#pools.get(pool);
    if (known === undefined) return;
    if (cause.how === "pinned") known.pinned = true;
    if (cause.how === "unpinned") known.pinned = false;
    if (cause.how === "pinned" || cause.how === "unpinned") known.starts = [];
  }

  /** A later pool with the same name is another pool. */
  removed(pool: string): void {
    this.#pools.delete(pool);
  }

  granted(
    { id, claims, paced = [] }: EventOf<"lease-granted">,
    at: number,
    poolOf: (resource: string) => string,
    gang?: string,
  ): void {
    const counts = new Map<string, number>();
    for (const { resource, into } of claims) {
      if (into === "cleaning") continue;
      for (const name of this.#up(poolOf(resource))) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const [name, count] of counts) {
      const pool = this.#pools.get(name);
      if (pool === undefined || !isPaced(pool)) continue;
      const everyMs = paced.find((one) => one.pool === name)?.everyMs ?? Number.NaN;
      insist(everyMs >= 0, () => `${id} was granted without the pace of ${name}`);
      const last = pool.starts.at(-1);
      const together = gang !== undefined && last?.gang === gang && last.at === at;
      if (!together) this.#check(name, pool, at);
      pool.starts = [...pool.starts.slice(-lookBackMax), { at, everyMs, count, gang }];
    }
  }

  /** The pool and all its ancestors. */
  #up(pool: string): string[] {
    const above: string[] = [];
    for (let at: string | undefined = pool; at !== undefined && this.#pools.has(at); ) {
      above.push(at);
      at = this.#pools.get(at)?.policy.parent;
    }
    return above;
  }

  /** Each earlier start, except those within the burst, needs its interval before this one. */
  #check(name: string, { policy, starts }: Paced, at: number): void {
    const { burst = 1, jitter = 0 } = policy.pace ?? {};
    let debtMs = 0;
    for (const start of starts.toReversed()) {
      debtMs += start.count * start.everyMs;
      const slackMs = (burst - 1 + jitter) * Math.max(...starts.map(({ everyMs }) => everyMs));
      insist(
        at - start.at >= debtMs - slackMs - 1,
        () => `${name} granted ${at - start.at} ms after one that was owed ${debtMs} ms`,
      );
    }
  }
}

function isPaced({ policy, pinned }: Paced): boolean {
  return policy.pace !== undefined || policy.adaptive?.mode === "auto" || pinned;
}
