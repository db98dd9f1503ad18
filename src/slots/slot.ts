import { type ClusterKind, suffixOf } from "../kubernetes/clusters.ts";
import {
  type KubeObject,
  type LeaseObject,
  type LeaseSpec,
  microTime,
} from "../kubernetes/kube-objects.ts";

/** The names of the objects, which shell scripts and Berth share. */
export interface SlotNames {
  readonly namespace: string;
  /** Slot 3 is the Lease `<prefix>-3`. */
  readonly prefix: string;
  /** The label `app` of a slot. */
  readonly app: string;
}

/** The slots `0` to `count - 1`. */
export interface SlotSet extends SlotNames {
  readonly count: number;
}

/** A run: its subject (suffix) and its run id. Two runs on the same subject are two holders. */
export interface Holder {
  readonly suffix: string;
  readonly runId: string;
}

export function identityOf({ suffix, runId }: Holder): string {
  return `${suffix}:${runId}`;
}

/**
 * Parses `holderIdentity`. A name without a colon, as people write it by hand, is only a suffix.
 */
export function holderOf(identity: string): Holder {
  const at = identity.indexOf(":");
  if (at < 0) return { suffix: identity, runId: "" };
  return { suffix: identity.slice(0, at), runId: identity.slice(at + 1) };
}

/** Whether the holder with this identity created the cluster, judged by the suffix in its name. */
export function isOwnedBy(kind: ClusterKind, cluster: KubeObject, identity: string): boolean {
  return suffixOf(kind, cluster) === holderOf(identity).suffix;
}

export function slotName({ prefix }: SlotNames, slot: number): string {
  return `${prefix}-${slot}`;
}

/**
 * Returns undefined if the Lease is not a slot. Uses the name, so that a slot created by hand
 * counts.
 */
export function slotNumber({ prefix }: SlotNames, { metadata }: LeaseObject): number | undefined {
  if (!metadata.name.startsWith(`${prefix}-`)) return undefined;
  const number = metadata.name.slice(prefix.length + 1);
  return /^(?:0|[1-9]\d{0,5})$/.test(number) ? Number(number) : undefined;
}

export interface Term {
  readonly identity: string;
  readonly durationSeconds: number;
  /** In the time of the server's clock. */
  readonly nowMs: number;
}

/** A new Lease for a free slot. */
export function newSlot(names: SlotNames, slot: number, term: Term): LeaseObject {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name: slotName(names, slot),
      namespace: names.namespace,
      labels: labelsOf(names, slot),
    },
    spec: { ...heldSpec(term), leaseTransitions: 0 },
  };
}

/** The same object with a new holder. The write fails if its UID or version has changed. */
export function takenOver(
  names: SlotNames,
  slot: number,
  lease: LeaseObject,
  term: Term,
): LeaseObject {
  const { metadata, spec } = lease;
  return {
    ...lease,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labelsOf(names, slot) } },
    spec: { ...heldSpec(term), leaseTransitions: (spec?.leaseTransitions ?? 0) + 1 },
  };
}

/** The same object with the same holder and a new renewal time. */
export function renewed(lease: LeaseObject, nowMs: number, change: LeaseSpec = {}): LeaseObject {
  return { ...lease, spec: { ...lease.spec, ...change, renewTime: microTime(nowMs) } };
}

function labelsOf({ app }: SlotNames, slot: number): Record<string, string> {
  return { app, slot: String(slot) };
}

function heldSpec({ identity, durationSeconds, nowMs }: Term): LeaseSpec {
  const now = microTime(nowMs);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: durationSeconds,
    acquireTime: now,
    renewTime: now,
  };
}
