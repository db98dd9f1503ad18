/**
 * A second account of the paces, by counting: whatever stretch of time one looks at, it has no more
 * starts than the burst and one for every interval in it, in the pool and at every level that it draws
 * on. A jitter may shift a start by its share of an interval, and no further. It trusts nothing that a
 * grant says of the pace but the interval.
 */
import type { EventOf } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { insist } from "./violation.ts";

interface Start {
  readonly at: number;
  readonly everyMs: number;
  readonly count: number;
  /** Those that are granted together, as one. */
  readonly company: string | undefined;
}

interface Paced {
  policy: PoolPolicy;
  pinned: boolean;
  /** Since the pace was last changed. The claims count, each at the time of its grant. */
  starts: Start[];
}

/** A bound for what the check costs: over longer stretches a breach shows in a shorter one first. */
const lookBackMax = 50;

export class PaceLedger {
  readonly #pools = new Map<string, Paced>();

  defined(pool: string, policy: PoolPolicy): void {
    const known = this.#pools.get(pool);
    const told = ({ pace, adaptive }: PoolPolicy) => JSON.stringify([pace, adaptive]);
    if (known === undefined) this.#pools.set(pool, { policy, pinned: false, starts: [] });
    else if (told(known.policy) !== told(policy)) Object.assign(known, { policy, starts: [] });
    else known.policy = policy;
  }

  /** What an operator sets counts from the last grant on, whatever was before. */
  rated({ pool, cause }: EventOf<"rate-changed">): void {
    const known = this.#pools.get(pool);
    if (known === undefined) return;
    if (cause.how === "pinned") known.pinned = true;
    if (cause.how === "unpinned") known.pinned = false;
    if (cause.how === "pinned" || cause.how === "unpinned") known.starts = [];
  }

  /** One that comes again under its name is another. */
  removed(pool: string): void {
    this.#pools.delete(pool);
  }

  granted(
    { id, claims, paced = [] }: EventOf<"lease-granted">,
    at: number,
    poolOf: (resource: string) => string,
    company?: string,
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
      insist(everyMs >= 0, () => `${id} was granted and kept no pace of ${name}`);
      const last = pool.starts.at(-1);
      const together = company !== undefined && last?.company === company && last.at === at;
      if (!together) this.#check(name, pool, at);
      pool.starts = [...pool.starts.slice(-lookBackMax), { at, everyMs, count, company }];
    }
  }

  /** The pool and all that it draws on. */
  #up(pool: string): string[] {
    const above: string[] = [];
    for (let at: string | undefined = pool; at !== undefined && this.#pools.has(at); ) {
      above.push(at);
      at = this.#pools.get(at)?.policy.parent;
    }
    return above;
  }

  /** Of the starts before this one, each but those within the burst had to be paid for by now. */
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
