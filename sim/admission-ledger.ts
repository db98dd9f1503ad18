/**
 * A second account of what was said of pools that are lent only while there is room elsewhere: what
 * was looked up, what was told of it, and what was lent on the strength of it.
 */
import type { EventOf } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { insist } from "./violation.ts";

interface Guarded {
  credits: number;
  until: number;
}

export class AdmissionLedger {
  readonly #guarded = new Map<string, Guarded>();
  /** The most that was ever found for a pool, by those who looked. Undefined: nobody looks here. */
  #found: Map<string, number> | undefined;

  /** From now on nothing may be told of a pool that was not found first. */
  found(pool: string, grants: number): void {
    this.#found ??= new Map();
    this.#found.set(pool, Math.max(grants, this.#found.get(pool) ?? 0));
  }

  defined(pool: string, { admission }: PoolPolicy): void {
    if (admission === undefined) this.#guarded.delete(pool);
    else if (!this.#guarded.has(pool)) this.#guarded.set(pool, { credits: 0, until: 0 });
  }

  removed(pool: string): void {
    this.#guarded.delete(pool);
  }

  admitted({ pool, grants, until }: EventOf<"pool-admitted">): void {
    const found = this.#found?.get(pool) ?? (this.#found === undefined ? grants : 0);
    insist(grants <= found, () => `${pool} is told of room for ${grants} that nobody has found`);
    this.#guarded.set(pool, { credits: grants, until });
  }

  withheld(pool: string): void {
    if (this.#guarded.has(pool)) this.#guarded.set(pool, { credits: 0, until: 0 });
  }

  granted(
    { id, claims }: EventOf<"lease-granted">,
    at: number,
    poolOf: (resource: string) => string,
  ): void {
    for (const { resource, into } of claims) {
      const guarded = into === "cleaning" ? undefined : this.#guarded.get(poolOf(resource));
      if (guarded === undefined) continue;
      const { credits, until } = guarded;
      insist(credits > 0 && at < until, () => `${resource} was lent to ${id} without a credit`);
      guarded.credits -= 1;
    }
  }
}
