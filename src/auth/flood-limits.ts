/** Limits against floods: calls per caller, and refused credentials per address. */
import { Problem } from "../api/problem.ts";
import { addressKey } from "./address-key.ts";
import type { Principal } from "./principal.ts";
import { type Rate, TokenBuckets } from "./token-buckets.ts";

/** `auth.limits` of the configuration. */
export interface FloodLimitsSpec {
  /** Calls of one principal, or with the token of one lease. */
  readonly requests: Rate;
  /** Refused credentials from one address. */
  readonly failures: Rate;
}

/**
 * One token may stand for the CI of a whole company: hundreds of calls per second are a busy day, and
 * a flood is more. A job with an expired token retries about once per second.
 */
export const defaultFloodLimits: FloodLimitsSpec = {
  requests: { perSecond: 1_000, burst: 10_000 },
  failures: { perSecond: 2, burst: 60 },
};

const callersMax = 50_000;
const addressesMax = 10_000;

export type FloodLimit = "requests" | "failures";

export class FloodLimits {
  readonly #requests: TokenBuckets;
  readonly #leaseCalls: TokenBuckets;
  readonly #failures: TokenBuckets;
  readonly #refused = { requests: 0, failures: 0 };
  readonly #keys = new WeakMap<Principal, string>();

  constructor(spec: FloodLimitsSpec = defaultFloodLimits) {
    this.#requests = new TokenBuckets(spec.requests, callersMax);
    this.#leaseCalls = new TokenBuckets(spec.requests, callersMax);
    this.#failures = new TokenBuckets(spec.failures, addressesMax);
  }

  configure(spec: FloodLimitsSpec = defaultFloodLimits): void {
    this.#requests.configure(spec.requests);
    this.#leaseCalls.configure(spec.requests);
    this.#failures.configure(spec.failures);
  }

  /** How many calls were refused by each limit. */
  get refused(): Readonly<Record<FloodLimit, number>> {
    return this.#refused;
  }

  /** Counts a call of a principal. Anonymous callers are told apart by their address. */
  countCall(principal: Principal, address: () => string, nowMs: number): void {
    const isAnonymous = principal.proof === "none";
    const key = isAnonymous ? `@${addressKey(address())}` : this.#keyOf(principal);
    this.#mustBeFew(this.#requests.take(key, nowMs));
  }

  /** Kept, because making the same text for every call would cost more than counting it. */
  #keyOf(principal: Principal): string {
    const known = this.#keys.get(principal);
    if (known !== undefined) return known;
    const key = `${principal.space}\n${principal.name}`;
    this.#keys.set(principal, key);
    return key;
  }

  /** Counts a call with the token of a lease. */
  countLeaseCall(id: string, nowMs: number): void {
    this.#mustBeFew(this.#leaseCalls.take(id, nowMs));
  }

  #mustBeFew(waitMs: number): void {
    if (waitMs === 0) return;
    this.#refused.requests += 1;
    throw tooMany("too_many_requests", "Cannot answer: this caller sends too many calls", waitMs);
  }

  /** Throws while the address has too many failures. For checks that cost much. */
  mustMayFail(address: string, nowMs: number): void {
    const waitMs = this.#failures.waitMs(addressKey(address), nowMs);
    if (waitMs > 0) throw this.#tooManyFailures(waitMs);
  }

  /** Counts refused credentials. Returns what to answer instead of the refusal, if too many. */
  countFailure(address: string, nowMs: number): Problem | undefined {
    const waitMs = this.#failures.take(addressKey(address), nowMs);
    return waitMs === 0 ? undefined : this.#tooManyFailures(waitMs);
  }

  #tooManyFailures(waitMs: number): Problem {
    this.#refused.failures += 1;
    const message = "Cannot check the credentials: too many from this address were refused";
    return tooMany("too_many_failures", message, waitMs);
  }
}

function tooMany(code: string, message: string, waitMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new Problem({
    ...{ code, status: 429, message },
    hint: `Try again after ${retryAfterSeconds} s. Operators: auth.limits has the limits`,
    facts: { retryAfterSeconds },
  });
}
