import { type ClusterKind, suffixOf } from "../kubernetes/clusters.ts";
import {
  type KubeObject,
  type LeaseObject,
  type LeaseSpec,
  microTime,
} from "../kubernetes/kube-objects.ts";

/** How the objects are named, so that scripts and Berth can share them. */
export interface SlotNames {
  readonly namespace: string;
  /** Slot 3 is the Lease `<prefix>-3`. */
  readonly prefix: string;
  /** The label `app` of a slot. */
  readonly app: string;
}

/** Slots `0` to `count - 1`. */
export interface SlotSet extends SlotNames {
  readonly count: number;
}

/** A run: what it works on, and which run it is. Two runs on one thing are two holders. */
export interface Holder {
  readonly suffix: string;
  readonly runId: string;
}

export function identityOf({ suffix, runId }: Holder): string {
  return `${suffix}:${runId}`;
}

/** Who is behind `holderIdentity`; a name without a colon, as people give it by hand, is all suffix. */
export function holderOf(identity: string): Holder {
  const at = identity.indexOf(":");
  if (at < 0) return { suffix: identity, runId: "" };
  return { suffix: identity.slice(0, at), runId: identity.slice(at + 1) };
}

/** Whether a cluster was made by the holder of that identity, by the suffix in its name. */
export function isOwnedBy(kind: ClusterKind, cluster: KubeObject, identity: string): boolean {
  return suffixOf(kind, cluster) === holderOf(identity).suffix;
}

export function slotName({ prefix }: SlotNames, slot: number): string {
  return `${prefix}-${slot}`;
}

/** Undefined for a Lease that is no slot. By name, so that one made by hand counts as well. */
export function slotNumber({ prefix }: SlotNames, { metadata }: LeaseObject): number | undefined {
  if (!metadata.name.startsWith(`${prefix}-`)) return undefined;
  const number = metadata.name.slice(prefix.length + 1);
  return /^(?:0|[1-9]\d{0,5})$/.test(number) ? Number(number) : undefined;
}

export interface Term {
  readonly identity: string;
  readonly durationSeconds: number;
  /** By the server's clock. */
  readonly nowMs: number;
}

/** A slot that nobody has, as it is taken. */
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

/** The same object in other hands. What its resourceVersion and UID say must still be true. */
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

/** The same in the same hands, for another while. */
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
