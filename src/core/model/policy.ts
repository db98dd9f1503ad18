import type { Attribute, CapacitySpec } from "../shared/placement/shareable.ts";
import type { ClusterPolicy } from "./cluster.ts";
import { defaultsOf } from "./fields.ts";
import type { PoolName, ResourceName } from "./ids.ts";
import { policyFields } from "./policy-fields.ts";
import type { Strategy } from "./strategies.ts";

/**
 * How a pool lends. `policy-fields.ts` has the meaning, bounds and default of each field. Durations
 * are in milliseconds; `null`, or an absent field, means "no such rule".
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
  /** By the state of the held resource. */
  readonly silence?: Readonly<Record<string, Silence>>;
  readonly states?: readonly string[];
  readonly dynamic?: DynamicPolicy;
  readonly cleaning?: CleaningPolicy;
  readonly parent?: PoolName;
  readonly limit?: number;
  readonly cost?: number;
  /** Leases may be ended with notice for a waiting request. */
  readonly preempt?: boolean;
  readonly noticeMs?: number;
  readonly pace?: PacePolicy;
  readonly placement?: PlacementPolicy;
  readonly admission?: AdmissionPolicy;
  readonly adaptive?: AdaptivePolicy;
  readonly cluster?: ClusterPolicy;
}

/** The core does not know what is checked, nor how. */
export interface AdmissionPolicy {
  /** The name of the check, for people. */
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
  /** The strategies that a request may choose instead. */
  readonly choices?: readonly Strategy[];
  /** Parts of its resources that are lent exclusively, such as networks, by kind. */
  readonly parts?: Readonly<Record<string, PartKind>>;
}

export interface PartKind {
  /** An attribute. One claim never gets two parts with the same value of it. */
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

/** The policy of a pool without any settings. Also fills the missing fields of groups. */
export const defaultPolicy = defaultsOf<PoolPolicy>(policyFields);
export const defaultAdaptive = defaultsOf<AdaptivePolicy>(policyFields.adaptive.kind.fields);
export const defaultCleaning = defaultsOf<CleaningPolicy>(policyFields.cleaning.kind.fields);

export interface MemberSpec {
  readonly name: ResourceName;
  readonly labels: Readonly<Record<string, string>>;
  /** The initial state. Default: `free`. */
  readonly state?: string;
  /** The initial user data. A resource that exists keeps its own. */
  readonly userData?: Readonly<Record<string, string>>;
  readonly room?: CapacitySpec;
}

/** A pool as configured. */
export interface PoolSpec {
  readonly name: PoolName;
  readonly policy: PoolPolicy;
  readonly members: readonly MemberSpec[];
}

export function samePolicy(a: PoolPolicy, b: PoolPolicy): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof PoolPolicy>;
  return [...keys].every((key) => same(a[key], b[key]));
}

/** Compares plain data (numbers, text, and objects of these). Ignores the order of keys. */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const left = Object.entries(a);
  const right = new Map(Object.entries(b));
  return left.length === right.size && left.every(([key, value]) => same(value, right.get(key)));
}
