/**
 * A second ledger for pools with `admission`: what the checks found, what was reported to the
 * broker, and what was granted with the credits.
 */
import type { EventOf } from "../src/core/model/event.ts";
import type { PoolPolicy } from "../src/core/model/policy.ts";
import { assertInvariant } from "./violation.ts";

interface Guarded {
  credits: number;
  until: number;
}

export class AdmissionLedger {
  readonly #guarded = new Map<string, Guarded>();
  /**
   * The largest number that a check ever found for a pool. Undefined: no checks run in this world.
   */
  #found: Map<string, number> | undefined;

  /** From now on only numbers that a check found may be reported. */
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
    assertInvariant(grants <= found, () => `${pool} got ${grants} credits that no check found`);
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
      assertInvariant(
        credits > 0 && at < until,
        () => `${resource} was lent to ${id} without a credit`,
      );
      guarded.credits -= 1;
    }
  }
}
