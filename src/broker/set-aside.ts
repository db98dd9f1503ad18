import type { Undecidable } from "../core/decide/set-aside.ts";
import type { Command } from "../core/model/command.ts";
import type { PoolName } from "../core/model/ids.ts";
import type { Instant } from "../core/model/time.ts";

export type SetAside = Extract<Command, { type: "set-aside" }>;

/** A pool that fails twice within this time is suspended, whichever request it fails for. */
const failedForMs = 600_000;

/** Chooses what to set aside after a decision failed, and remembers which pools have failed. */
export class FailedDecisions {
  readonly #failedAt = new Map<PoolName, Instant>();

  /** The request alone; or its pools, if one of them has failed lately for another request. */
  setAside({ culprit, message: why }: Undecidable, now: Instant): SetAside {
    const { pools, request } = culprit;
    const isFirst = pools.every((pool) => {
      const failedAt = this.#failedAt.get(pool);
      return failedAt === undefined || now - failedAt > failedForMs;
    });
    for (const pool of pools) this.#failedAt.set(pool, now);
    const suspended = { type: "set-aside", pools, why } as const;
    return isFirst && request !== undefined ? { ...suspended, request } : suspended;
  }
}
