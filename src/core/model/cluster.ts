/**
 * A cluster is an exclusive resource that Berth makes. A worker (the provisioner) prepares it, as a
 * janitor prepares a dirty resource: it leases the cluster in the state that has work for it, does
 * the work and releases it in the state that it has reached. The plan (`core/clusters`) decides
 * which clusters there are and which are awake.
 */
import type { SpaceName } from "./ids.ts";
import {
  brokenState,
  creatingState,
  destroyingState,
  freeState,
  hibernatedState,
  resumingState,
  stoppingState,
  tombstoneState,
  usedState,
} from "./lifecycle.ts";
import { type Instant, never } from "./time.ts";

/** The value of a parameter. Never a secret: parameters are shown to everybody. */
export type ParameterValue = string | number | boolean;

/** All parameters of a cluster, resolved: what was asked for, and the defaults of the template. */
export type Parameters = Readonly<Record<string, ParameterValue>>;

/**
 * The reserved parameter that names the credentials of a space that a cluster is made with, and their
 * version. Clusters with other credentials are different ones: nobody gets a cluster of another space.
 */
export const credentialsParameter = "credentials";

/** The space whose credentials the cluster is made with; undefined: those of its template. */
export function spaceOfCredentials(parameters: Parameters): string | undefined {
  const [space, name] = String(parameters[credentialsParameter] ?? "").split("/");
  return name === undefined ? undefined : space;
}

/** How a pool makes its resources. Absent in a policy: the pool lends what is listed. */
export interface ClusterPolicy {
  readonly template: string;
  /** A hash of the template and of everything behind its references. */
  readonly revision: string;
  /** How many clusters that nobody holds the pool keeps, beside those for waiting requests. */
  readonly size: number;
  /** How many of these are awake. `auto`: as many as recent arrivals justify. */
  readonly running: number | "auto";
  /** How many clusters there may be, in any state. 0: no new ones. Absent: no limit. */
  readonly max?: number;
  /** How many may be created and destroyed at one time. Absent: no limit. */
  readonly concurrent?: number;
  /** Whether the driver can put a cluster to sleep. */
  readonly hibernates: boolean;
  readonly limits: PhaseLimits;
  /** The parameters of the clusters that the pool keeps. */
  readonly parameters: Parameters;
  /** The names of the hubs that they may be made on. Absent: the driver needs none. */
  readonly hubs?: readonly string[];
  /** The kinds that such a hub must serve. */
  readonly needs?: readonly string[];
  /** The release image, with places for parameters: it says which version a hub must be able to make. */
  readonly release?: string;
}

/** How long a worker may take for each phase, with all its attempts. */
export interface PhaseLimits {
  readonly createMs: number;
  readonly resumeMs: number;
  readonly stopMs: number;
  readonly destroyMs: number;
}

export const defaultPhaseLimits: PhaseLimits = {
  createMs: 3_600_000,
  resumeMs: 900_000,
  stopMs: 900_000,
  destroyMs: 3_600_000,
};

/** What the plan wants of a cluster. A worker that holds it learns this with each report. */
export type Wanted = "ready" | "hibernated" | "destroyed";

/** An operator keeps a cluster for debugging: it is neither lent nor destroyed until then. */
export interface ClusterHold {
  readonly by: string;
  readonly why: string;
  readonly until: Instant;
}

export interface Cluster {
  /** Never used twice, not even after the journal was lost. External names derive from it. */
  readonly instance: string;
  readonly template: string;
  readonly revision: string;
  readonly parameters: Parameters;
  /** The same text for the same parameters. */
  readonly parametersKey: string;
  /** Where it is made; null if the driver needs no hub. */
  readonly hub: string | null;
  /** The cost of the pool when it was planned; from its grant on, the cost at the grant. */
  readonly price: number;
  /** What the driver needs to find it again, as text. */
  readonly handle: string | null;
  /** When it was planned or adopted. It is charged from then on. */
  readonly plannedAt: Instant;
  /** When its present state began, and the state before it. */
  readonly since: Instant;
  readonly reachedBy: string;
  /** The end of the present phase. `never` until a worker has begun with it. */
  readonly deadlineAt: Instant;
  readonly wanted: Wanted;
  /** What the driver says about it, or why it is broken. */
  readonly message: string;
  /** The part of the present phase that is done, from 0 to 1. */
  readonly progress: number | null;
  readonly apiUrl: string | null;
  readonly version: string | null;
  /**
   * What its destruction waits for, as its driver says, from the first look on. Not null and without
   * a deadline: the destruction has taken longer than its limit (`stuckOn`).
   */
  readonly stuck: readonly string[] | null;
  /** Why its holder has lost it: the cluster is gone or has failed. */
  readonly lost: string | null;
  readonly hold: ClusterHold | null;
  /** The space that is charged for it, from its grant until it is removed. */
  readonly space: SpaceName | null;
}

/** The part of a cluster that its first event has. */
export interface ClusterBirth {
  readonly instance: string;
  readonly template: string;
  readonly revision: string;
  readonly parameters: Parameters;
  readonly price: number;
  readonly hub?: string;
  readonly handle?: string;
}

/** What a worker has found out about the cluster that it holds. */
export interface ClusterReport {
  /** JSON text, at most `handleLengthMax` characters. */
  readonly handle?: string;
  readonly message?: string;
  readonly progress?: number | null;
  readonly apiUrl?: string;
  readonly version?: string;
  readonly stuck?: readonly string[];
}

export const handleLengthMax = 16_384;

/** The states that have work for a worker. */
export type Phase = "creating" | "stopping" | "resuming" | "destroying";

export const phases: readonly Phase[] = [
  creatingState,
  stoppingState,
  resumingState,
  destroyingState,
];

export function isPhase(state: string): state is Phase {
  return (phases as readonly string[]).includes(state);
}

/** The states in which a worker may release a cluster that it holds in a phase. */
export const reachable: Readonly<Record<Phase, readonly string[]>> = {
  [creatingState]: [freeState, brokenState],
  [stoppingState]: [hibernatedState, brokenState],
  [resumingState]: [freeState, brokenState],
  [destroyingState]: [tombstoneState],
};

/** What blocks a destruction that has taken longer than its limit; null before that. */
export function stuckOn({
  stuck,
  deadlineAt,
}: Pick<Cluster, "stuck" | "deadlineAt">): readonly string[] | null {
  return deadlineAt === never ? stuck : null;
}

/** States of a cluster that waits for its destruction. */
export function isDoomed(state: string): boolean {
  return state === brokenState || state === usedState;
}

export function limitOfPhase(limits: PhaseLimits, phase: Phase): number {
  switch (phase) {
    case "creating":
      return limits.createMs;
    case "stopping":
      return limits.stopMs;
    case "resuming":
      return limits.resumeMs;
    case "destroying":
      return limits.destroyMs;
  }
}

/** The same text for the same parameters, in whatever order they are. */
export function parametersKeyOf(parameters: Parameters): string {
  const entries = Object.entries(parameters);
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The parameters of which `parametersKeyOf` has made the text. */
export function parametersIn(key: string): Parameters {
  return Object.fromEntries(JSON.parse(key) as [string, ParameterValue][]);
}

/** `version=4.20 workers=3` */
export function parametersText(parameters: Parameters): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}
