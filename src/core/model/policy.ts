import type { Attribute, CapacitySpec } from "../shared/placement/shareable.ts";
import { defaultsOf } from "./fields.ts";
import type { PoolName, ResourceName } from "./ids.ts";
import { policyFields } from "./policy-fields.ts";
import type { Strategy } from "./strategies.ts";

/**
 * How a pool lends. What each field means, may be and is by default stands in `policy-fields.ts`.
 * Durations are in milliseconds; `null`, or a field that is absent, means "no such rule".
 */
export interface PoolPolicy {
  readonly ttlMs: number;
  readonly lifetimeMs: number | null;
  readonly holdMs: number | null;
  readonly cooldownMs: number;
  readonly lockDelayMs: number;
  readonly patienceMs: number;
  readonly onRelease: string;
  readonly onExpire: string;
  /** By the state in which it is held. */
  readonly silence?: Readonly<Record<string, Silence>>;
  readonly dynamic?: DynamicPolicy;
  readonly cleaning?: CleaningPolicy;
  readonly parent?: PoolName;
  readonly limit?: number;
  readonly pace?: PacePolicy;
  readonly placement?: PlacementPolicy;
  readonly admission?: AdmissionPolicy;
  readonly adaptive?: AdaptivePolicy;
}

/** What is checked, and how, is known outside of the core. */
export interface AdmissionPolicy {
  /** What is checked, for people. */
  readonly by: string;
}

/** Rates are starts per minute. */
export interface AdaptivePolicy {
  readonly mode: "off" | "advise" | "auto";
  readonly min: number;
  readonly max: number;
  readonly factor: number;
  readonly cutEveryMs: number;
  readonly step: number;
  readonly raiseAfterMs: number;
  readonly used: number;
}

export interface PacePolicy {
  readonly everyMs: number | "auto";
  readonly burst: number;
  readonly jitter: number;
}

export interface PlacementPolicy {
  readonly strategy: Strategy;
  /** Those that a request may choose instead. */
  readonly choices?: readonly Strategy[];
  /** By kind: what its resources have that is lent whole, such as networks. */
  readonly parts?: Readonly<Record<string, PartKind>>;
}

export interface PartKind {
  /** An attribute: one claim gets no two that have the same value of it. */
  readonly apart?: string;
  readonly members: Readonly<Record<string, Readonly<Record<string, Attribute>>>>;
}

/** The timeout of holders without a token: they need not send heartbeats. */
export interface Silence {
  readonly afterMs: number;
  readonly to: string;
}

export interface DynamicPolicy {
  readonly min: number;
  readonly max: number;
  readonly state: string;
  readonly lifespanMs: number | null;
}

export interface CleaningPolicy {
  readonly retries: number;
  readonly backoffMs: number;
}

/** What a pool does with nothing written, and what completes a group that is written in part. */
export const defaultPolicy = defaultsOf<PoolPolicy>(policyFields);
export const defaultAdaptive = defaultsOf<AdaptivePolicy>(policyFields.adaptive.kind.fields);
export const defaultCleaning = defaultsOf<CleaningPolicy>(policyFields.cleaning.kind.fields);

export interface MemberSpec {
  readonly name: ResourceName;
  readonly labels: Readonly<Record<string, string>>;
  /** Its state when it is new. Default: `free`. */
  readonly state?: string;
  readonly room?: CapacitySpec;
}

/** A pool as configured: what the operator wants to be true. */
export interface PoolSpec {
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  readonly members: readonly MemberSpec[];
}

export function samePolicy(a: PoolPolicy, b: PoolPolicy): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof PoolPolicy>;
  return [...keys].every((key) => same(a[key], b[key]));
}

/** For plain data: numbers, text, and objects of these, whatever the order of their keys. */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const left = Object.entries(a);
  const right = new Map(Object.entries(b));
  return left.length === right.size && left.every(([key, value]) => same(value, right.get(key)));
}
