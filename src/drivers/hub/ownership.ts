/** What is on every object that Berth makes on a hub: whose it is, and what it was made from. */
import { createHash } from "node:crypto";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import { type ClusterSpec, Conflict, Hopeless } from "../driver.ts";

/** Annotations. An instance has more characters than a label may have. */
export const instanceKey = "berth/instance";
export const specKey = "berth/spec";
/** RFC 3339: after this time the cluster may be destroyed by whoever finds it, without Berth. */
export const expiresKey = "berth/expires-at";
/** Labels. The broker is the installation of Berth; the name is that of the cluster outside. */
export const brokerLabel = "berth/broker";
export const nameLabel = "berth/name";
/** Seconds since 1970, as a label has no colons: a selector finds those that may go. */
export const expiresLabel = "berth/expires";
export const managedBy = { "app.kubernetes.io/managed-by": "berth" };

export interface Owner {
  /** Several installations of Berth may use one hub, and each must see only its own clusters. */
  readonly broker: string;
  /** How long after its creation a cluster may be destroyed by others; undefined: never. */
  readonly expiryMs?: number | undefined;
}

/** Labels and annotations for an object of this cluster, beside those that it has already. */
export function ownedMetadata(
  spec: ClusterSpec,
  owner: Owner,
  own: Pick<KubeObject["metadata"], "labels" | "annotations"> = {},
) {
  const expires = expiresAt(owner);
  return {
    labels: {
      ...own.labels,
      ...labelsOf(spec.tags),
      ...managedBy,
      [brokerLabel]: labelValue(owner.broker),
      [nameLabel]: spec.name,
      ...(expires && { [expiresLabel]: String(Math.floor(expires.getTime() / 1_000)) }),
    },
    annotations: {
      ...own.annotations,
      [instanceKey]: spec.instance,
      [specKey]: specHash(spec),
      ...(expires && { [expiresKey]: expires.toISOString() }),
    },
  };
}

/** Of a cluster that is made now; undefined: it never expires. */
export function expiresAt({ expiryMs }: Owner): Date | undefined {
  return expiryMs === undefined ? undefined : new Date(Date.now() + expiryMs);
}

export function labelsOf(tags: ClusterSpec["tags"]): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(tags).map(([key, value]) => [key, labelValue(value)]));
}

/** Selects all objects of one installation. */
export function ofBroker({ broker }: Owner): string {
  return `${brokerLabel}=${labelValue(broker)}`;
}

/** Selects the objects of one cluster, by its exact name. */
export function ofCluster(name: string): string {
  return `${nameLabel}=${name}`;
}

export function instanceOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[instanceKey];
}

/** What exists under the name may only be taken over if it was made for the same cluster. */
export function mustBeSame(found: KubeObject, spec: ClusterSpec, what: string): void {
  const { annotations = {}, deletionTimestamp } = found.metadata;
  if (annotations[instanceKey] !== spec.instance) {
    throw new Conflict(`Cannot create ${what}: it belongs to something else`);
  }
  if (annotations[specKey] !== specHash(spec)) {
    const state = "it exists with another template, revision or parameters";
    throw new Conflict(`Cannot create ${what}: ${state}`);
  }
  if (deletionTimestamp !== undefined) {
    throw new Hopeless(`Cannot create ${what}: it is being deleted`);
  }
}

/** Two calls for one cluster must agree on this. */
export function specHash({ template, revision, parameters }: ClusterSpec): string {
  const sorted = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([template, revision, sorted]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** A label is shorter than most names may be, and has fewer characters. */
export function labelValue(text: string): string {
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}
