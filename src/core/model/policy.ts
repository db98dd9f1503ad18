import type { Strategy } from "../shared/placement/demand.ts";
import type { Attribute, CapacitySpec } from "../shared/placement/shareable.ts";
import { defaultsOf } from "./fields.ts";
import type { PoolName, ResourceName } from "./ids.ts";
import { policyFields } from "./policy-fields.ts";

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
  /** By the state that it is held in: when one whose holder has only a name is taken back. */
  readonly silence?: Readonly<Record<string, Silence>>;
  /** Resources that come and go with demand, beside those that are listed. */
  readonly dynamic?: DynamicPolicy;
  /** What a failed cleaning leads to. */
  readonly cleaning?: CleaningPolicy;
  /** What is lent of this pool counts against that one's limit as well, and so on upwards. */
  readonly parent?: PoolName;
  /** So many may be held of it and of all that draws on it. Absent: as many as it has. */
  readonly limit?: number;
  /** How far apart its grants are, with those of all that draws on it. Absent: as they come. */
  readonly pace?: PacePolicy;
  /** Its resources are lent by amount, each to many at a time. */
  readonly placement?: PlacementPolicy;
  /** It is lent only while somebody outside says that there is room. */
  readonly admission?: AdmissionPolicy;
  /** How the pool finds its start rate by what holders report. */
  readonly adaptive?: AdaptivePolicy;
}

/** What is asked, and how, is the business of whoever asks. */
export interface AdmissionPolicy {
  /** What is looked at, for people. */
  readonly by: string;
}

/** Rates are starts per minute. */
export interface AdaptivePolicy {
  /** `advise`: it is told what the rate would be, and nothing else changes. */
  readonly mode: "off" | "advise" | "auto";
  readonly min: number;
  readonly max: number;
  /** What is left of the rate after a report, and how long no other report lowers it again. */
  readonly factor: number;
  readonly cutEveryMs: number;
  /** By how much it rises after so long without a report. */
  readonly step: number;
  readonly raiseAfterMs: number;
  /** This share of what was allowed must have been used. */
  readonly used: number;
}

export interface PacePolicy {
  /** `auto`: the hold divided by how many may be held at one time. */
  readonly everyMs: number | "auto";
  /** So many may be granted in one instant after a quiet time; 1 or more. */
  readonly burst: number;
  /** By up to this share of `every` a grant is put off, so that nothing falls into step; 0 to 1. */
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

/** A holder that is known by name only sends no heartbeats unless it wants to: this is its ttl. */
export interface Silence {
  readonly afterMs: number;
  /** The state that the resource goes to. */
  readonly to: string;
}

export interface DynamicPolicy {
  /** Never fewer than this, once made; never more, counting those that are listed. */
  readonly min: number;
  readonly max: number;
  /** What a new one is in. */
  readonly state: string;
  /** One that nobody has taken for so long after it was given back is deleted. */
  readonly lifespanMs: number | null;
}

export interface CleaningPolicy {
  /** Failures in a row after which it is quarantined. */
  readonly retries: number;
  /** It rests so long after the first failure, twice as long after each further one. */
  readonly backoffMs: number;
}

/** What a pool does with nothing written, and what completes a group that is written in part. */
export const defaultPolicy = defaultsOf<PoolPolicy>(policyFields);
export const defaultAdaptive = defaultsOf<AdaptivePolicy>(policyFields.adaptive.kind.fields);
export const defaultCleaning = defaultsOf<CleaningPolicy>(policyFields.cleaning.kind.fields);

export interface MemberSpec {
  readonly name: ResourceName;
  readonly labels: Readonly<Record<string, string>>;
  /** What it is in when it is new; `free` unless told otherwise. */
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
