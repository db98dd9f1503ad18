import type { PoolName, ResourceName } from "./ids.ts";

/** How a pool lends. Durations in milliseconds; `null` means "no such limit". */
export interface PoolPolicy {
  /** A lease that sends no heartbeat for so long has expired. */
  readonly ttlMs: number;
  /** No lease lasts longer than this, however alive its holder is. */
  readonly lifetimeMs: number | null;
  /** A claim is given back by the server so long after its grant, while its lease goes on. */
  readonly holdMs: number | null;
  /** A resource rests so long after each use before it is lent again. */
  readonly cooldownMs: number;
  /** A resource taken from a holder that vanished rests so long: the holder may still be dying. */
  readonly lockDelayMs: number;
  /** For so long a request over several pools may be overtaken; then what comes free is kept. */
  readonly patienceMs: number;
  readonly onRelease: string;
  readonly onExpire: string;
}

export const defaultPolicy: PoolPolicy = {
  ttlMs: 5 * 60_000,
  lifetimeMs: null,
  holdMs: null,
  cooldownMs: 0,
  lockDelayMs: 15_000,
  patienceMs: 10 * 60_000,
  onRelease: "free",
  onExpire: "free",
};

export interface MemberSpec {
  readonly name: ResourceName;
  readonly labels: Readonly<Record<string, string>>;
}

/** A pool as configured: what the operator wants to be true. */
export interface PoolSpec {
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  readonly members: readonly MemberSpec[];
}

export function samePolicy(a: PoolPolicy, b: PoolPolicy): boolean {
  return Object.entries(a).every(([key, value]) => b[key as keyof PoolPolicy] === value);
}
