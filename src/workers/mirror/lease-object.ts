/** Converts a claim to a Kubernetes object: one Lease for each claim. */

import type { MirrorSpec } from "../../config/read-mirror.ts";
import type { RequestId, ResourceName } from "../../core/model/ids.ts";
import { type Claim, exclusiveClaim, type State } from "../../core/model/state.ts";
import { never } from "../../core/model/time.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";
import { type LeaseObject, type LeaseSpec, microTime } from "../../kubernetes/kube-objects.ts";
import { LeaseStore } from "../../kubernetes/lease-store.ts";
import { mirrorLimits } from "./limits.ts";
import { objectName } from "./object-name.ts";

const managedBy = "app.kubernetes.io/managed-by";
/** Identifies the server that owns the object, by its prefix. */
const mirrorLabel = "berth/mirror";
const resourceNote = "berth/resource";
const leaseNote = "berth/lease";
const claimNote = "berth/claim";
/**
 * The labels that the configuration set. A label that is later removed there is removed here too.
 */
const labelsNote = "berth/labels";

/** Berth lists, watches and changes only objects that have both labels. */
function selectorOf({ prefix }: MirrorSpec): string {
  return `${managedBy}=berth,${mirrorLabel}=${prefix}`;
}

export async function storeFor(spec: MirrorSpec): Promise<LeaseStore> {
  return new LeaseStore(await ApiServer.connect(spec), spec.namespace, selectorOf(spec));
}

export function isOurs({ metadata }: LeaseObject, { prefix }: MirrorSpec): boolean {
  const { labels = {} } = metadata;
  return labels[managedBy] === "berth" && labels[mirrorLabel] === prefix;
}

/**
 * Builds the object for a claim. With `seen`, changes that object and keeps what others added to
 * it.
 */
export function leaseObject(spec: MirrorSpec, claim: Claim, seen?: LeaseObject): LeaseObject {
  const { namespace, prefix } = spec;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    ...seen,
    metadata: {
      ...(seen?.metadata ?? { name: objectName(prefix, claim), namespace }),
      ...marksOf(spec, claim, seen?.metadata),
    },
    spec: heldSpec(claim),
  };
}

function marksOf(
  spec: MirrorSpec,
  claim: Claim,
  seen?: LeaseObject["metadata"],
): Pick<LeaseObject["metadata"], "labels" | "annotations"> {
  const { [labelsNote]: given = "", ...notes } = seen?.annotations ?? {};
  const ours = new Set(given.split(","));
  const foreign = Object.entries(seen?.labels ?? {}).filter(([name]) => !ours.has(name));
  const own = Object.keys(spec.labels).sort();
  return {
    labels: { ...Object.fromEntries(foreign), ...labelsOf(spec) },
    annotations: {
      ...{ ...notes, ...notesOf(claim) },
      ...(own.length === 0 ? undefined : { [labelsNote]: own.join() }),
    },
  };
}

function labelsOf({ prefix, labels }: MirrorSpec): Record<string, string> {
  return { ...labels, [managedBy]: "berth", [mirrorLabel]: prefix };
}

/**
 * Contains no token, no user data and not the request key of the client, which is as secret as a
 * token.
 */
function notesOf({ id, lease, resource, fence }: Claim): Record<string, string> {
  return {
    "berth/pool": resource.pool.name,
    [resourceNote]: resource.name,
    [leaseNote]: lease.id,
    [claimNote]: id,
    "berth/fence": String(fence),
  };
}

function heldSpec({ lease, fence }: Claim): LeaseSpec {
  const silenceMs = lease.expiresAt === never ? undefined : lease.expiresAt - lease.seenAt;
  return {
    ...(lease.ask.holder === "" ? undefined : { holderIdentity: lease.ask.holder }),
    // Without a duration, Kubernetes clients never treat the Lease as expired.
    ...(silenceMs === undefined ? undefined : { leaseDurationSeconds: wholeSeconds(silenceMs) }),
    acquireTime: microTime(lease.grantedAt),
    renewTime: microTime(lease.seenAt),
    leaseTransitions: fence % 2 ** 31, // The field is an int32; a note has the whole fence.
  };
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}

/** `stale`: only the time of the last heartbeat differs, by more than the limit. */
export type Difference = "none" | "stale" | "wrong";

export function compare(spec: MirrorSpec, claim: Claim, seen: LeaseObject): Difference {
  const want = leaseObject(spec, claim);
  const { renewTime: heard, ...rest } = want.spec ?? {};
  const { renewTime: written, ...found } = seen.spec ?? {};
  const same =
    includes(found, rest) &&
    Object.keys(found).every((key) => key in rest || !specKeys.has(key)) &&
    includes(seen.metadata.labels, want.metadata.labels) &&
    includes(seen.metadata.annotations, want.metadata.annotations) &&
    seen.metadata.annotations?.[labelsNote] === want.metadata.annotations?.[labelsNote];
  if (!same) return "wrong";
  const behindMs = Math.abs(Date.parse(heard ?? "") - Date.parse(written ?? ""));
  return behindMs < renewEveryMs(claim) ? "none" : "stale";
}

/** Other fields may come from a newer Kubernetes, so `compare` ignores them. */
const specKeys = new Set(["holderIdentity", "leaseDurationSeconds"]);

function includes(has: object = {}, wanted: object = {}): boolean {
  const found = new Map(Object.entries(has));
  return Object.entries(wanted).every(([key, value]) => found.get(key) === value);
}

/** Often enough that the object does not look expired, within the limits for writes. */
function renewEveryMs({ lease }: Claim): number {
  const silenceMs = lease.expiresAt === never ? Infinity : lease.expiresAt - lease.seenAt;
  return Math.min(Math.max(silenceMs / 2, mirrorLimits.renewMsMin), mirrorLimits.renewMsMax);
}

/** Whether a claim exists for this object. It may be another claim than the object names. */
export function isWanted(state: State, { prefix }: MirrorSpec, seen: LeaseObject): boolean {
  const { name, annotations = {} } = seen.metadata;
  const resource = state.resources.get(annotations[resourceNote] as ResourceName);
  const lease = state.leases.get(annotations[leaseNote] as RequestId);
  const claim =
    exclusiveClaim(resource) ?? lease?.claims.find(({ id }) => id === annotations[claimNote]);
  return claim !== undefined && objectName(prefix, claim) === name;
}
