/**
 * What makes clusters. A driver changes the outside world and remembers nothing: whatever it needs
 * to find a cluster again is its name. Every driver passes `driver.suite.ts`.
 *
 * A call may be repeated after a lost reply, by another process, or late. So every call names the
 * instance that it is about, which is never used twice, and a driver never touches what belongs to
 * another instance of the same name.
 */

/** Any value that JSON can hold. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Which cluster is meant. `name` is what it is called outside, a DNS label. */
export interface ClusterRef {
  readonly name: string;
  readonly instance: string;
  /** What `create` returned. Absent if its reply was lost: the name must be enough. */
  readonly handle?: Json;
}

export interface ClusterSpec {
  readonly name: string;
  readonly instance: string;
  readonly template: string;
  /** A hash of the template as it was when the cluster was planned. */
  readonly revision: string;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  /** To be put on everything that is made, so that it can be found without Berth. */
  readonly tags: Readonly<Record<string, string>>;
  readonly hub?: string;
}

/** What clusters the credentials are for. */
export interface Validated {
  readonly name: string;
  readonly revision: string;
  readonly pinned: ClusterSpec["parameters"];
}

export const phases = [
  "creating",
  "ready",
  "stopping",
  "hibernated",
  "resuming",
  "destroying",
  "absent",
  "failed",
] as const;

/** `failed`: it will not become ready by itself. */
export type Phase = (typeof phases)[number];

export interface Observation {
  readonly phase: Phase;
  readonly message?: string;
  /** 0 to 1. */
  readonly progress?: number;
  readonly apiUrl?: string;
  readonly version?: string;
  /** What is left of a cluster that is being destroyed, and why. */
  readonly blocking?: readonly string[];
}

/** What the holder receives. Every value is a secret. */
export interface AccessBundle {
  readonly kubeconfig: string;
  readonly username?: string;
  readonly password?: string;
  /** RFC 3339; absent: it does not expire by itself. */
  readonly expiresAt?: string;
}

/** A cluster that exists outside, whoever knows of it. */
export interface ListedCluster {
  readonly name: string;
  readonly instance: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

export interface Capabilities {
  /** False: `hibernate` and `resume` are refused as hopeless. */
  readonly hibernates: boolean;
  /**
   * True: `credentials` makes a new access each time, which ends at the asked time. The provisioner
   * then asks for it when the cluster is lent, for as long as it is lent.
   */
  readonly mintsAccess: boolean;
}

export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal, and nothing goes on in this process. */
  readonly signal?: AbortSignal;
}

export interface LogBudget {
  /** The end is kept. */
  readonly bytesMax: number;
  readonly timeMsMax: number;
}

export interface Driver {
  readonly capabilities: Capabilities;
  /**
   * Tries the credentials out that the driver was opened with. Changes nothing. `Hopeless` if they
   * will never work. Absent: the driver cannot tell.
   */
  validate?(about: Validated, options?: CallOptions): Promise<void>;
  /**
   * Creates or adopts: the same spec twice is one cluster. Another spec, or another owner, under the
   * same name is a `Conflict`. It need not wait until the cluster is ready.
   */
  create(spec: ClusterSpec, options?: CallOptions): Promise<Json>;
  /** Changes nothing. A cluster that does not exist, or is of another instance, is `absent`. */
  observe(ref: ClusterRef, options?: CallOptions): Promise<Observation>;
  /** Only for a ready cluster. `until` is a wish of drivers that mint access: it may end earlier. */
  credentials(
    ref: ClusterRef,
    options?: CallOptions & { readonly until?: Date },
  ): Promise<AccessBundle>;
  /** Begins or repeats; done when `observe` says so. */
  hibernate(ref: ClusterRef, options?: CallOptions): Promise<void>;
  resume(ref: ClusterRef, options?: CallOptions): Promise<void>;
  /**
   * Begins or repeats; done when `observe` says `absent`. What has to go in an order needs several
   * calls: one more whenever `observe` says anything but `destroying`. Destroying what does not exist,
   * or belongs to another instance, has no effect and is no error.
   */
  destroy(ref: ClusterRef, options?: CallOptions): Promise<void>;
  /**
   * Writes on an existing cluster whose it is now; absent: there is no place for it outside. What does not
   * exist, or belongs to another instance, is left alone.
   */
  mark?(ref: ClusterRef, tags: ClusterSpec["tags"], options?: CallOptions): Promise<void>;
  /** All that this driver has made and that still exists. */
  list(options?: CallOptions): Promise<readonly ListedCluster[]>;
  /** Works on broken and half-made clusters too, and ends within the budget with what it has. */
  logs(ref: ClusterRef, budget: LogBudget, options?: CallOptions): Promise<string>;
}

/** Why a call failed. The message is shown to people and never contains a secret. */
export class DriverError extends Error {
  override readonly name: string = "DriverError";
}

/** It may work later: a cloud that is slow or full, a program that crashed, a reply that is lost. */
export class Retry extends DriverError {
  override readonly name = "Retry";
}

/** It will never work for this cluster. */
export class Hopeless extends DriverError {
  override readonly name = "Hopeless";
}

/** There is no such cluster, so it cannot be hibernated, resumed or opened. */
export class Absent extends DriverError {
  override readonly name = "Absent";
}

/** The name is taken by something else, or by the same instance with another spec. */
export class Conflict extends DriverError {
  override readonly name = "Conflict";
}
