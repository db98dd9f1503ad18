/** The parts of Kubernetes objects that Berth reads and writes, as they are on the wire. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly ManagedFields[];
}

/** Records which client wrote which fields, with the time of the server's clock. */
export interface ManagedFields {
  readonly time?: string;
  readonly manager?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface KubeList<Item> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly Item[];
}

/** The server accepts only this form, with six decimal digits. */
export function microTime(atMs: number): string {
  return new Date(atMs).toISOString().replace("Z", "000Z");
}

/**
 * Compares by order of storage. Undefined if the versions are not numbers, which no known server
 * does.
 */
export function byVersion(one: string | undefined, other: string | undefined): number | undefined {
  if (!isCount(one) || !isCount(other)) return undefined;
  if (one.length !== other.length) return one.length - other.length;
  return one === other ? 0 : one < other ? -1 : 1;
}

function isCount(version: string | undefined): version is string {
  return version !== undefined && /^\d+$/.test(version);
}
