/**
 * Applies events: the only code that changes the state. It accepts every event and updates the
 * indexes. It decides nothing, so an event from an old journal has the same effect as then.
 *
 * Throws if an event contradicts the state. The journal is then damaged, or there is a bug, and to
 * continue would lend one resource twice.
 */
import type { BrokerEvent, ClusterEvent, EventOf, HubEvent } from "../model/event.ts";
import { must, type State } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import { clusterEvent, orphanEvent } from "./clusters.ts";
import { hubEvent } from "./hubs.ts";
import { postponeFirst } from "./indexes.ts";
import {
  claimEnded,
  claimReplaced,
  graceGiven,
  leaseDelivered,
  leaseEnded,
  leaseGranted,
  leaseRenewed,
  leaseRevoked,
  noticeGiven,
  renewRequest,
  requestLeft,
  requestQueued,
  roomKept,
} from "./leases.ts";
import { prioritiesDefined, priorityChanged } from "./priorities.ts";
import {
  admissionEvent,
  poolEvent,
  rateEvent,
  resourceAdded,
  resourceAdopted,
  resourceChanged,
  resourceMoved,
  resourceRelabelled,
  resourceRemoved,
  resourceResized,
  resourceRested,
  resourceRetired,
} from "./resources.ts";
import { followSizes, spacesDefined } from "./spaces.ts";

export function apply(state: State, event: BrokerEvent, at: Instant): void {
  if (event.type === "spaces-defined") return spacesDefined(state, event);
  change(state, event, at);
  if (state.spaces.size > 0) followSizes(state, event);
}

type OtherEvent = Exclude<BrokerEvent, { type: "spaces-defined" }>;

function change(state: State, event: OtherEvent, at: Instant): void {
  switch (event.type) {
    case "lease-granted":
      return leaseGranted(state, event, at);
    case "lease-ended":
      return leaseEnded(state, event, at);
    case "lease-renewed":
      return leaseRenewed(state, must(state.leases.get(event.id), event.id), at);
    case "lease-delivered":
      return leaseDelivered(state, event, at);
    case "lease-revoked":
      return leaseRevoked(state, event, at);
    case "request-queued":
      return requestQueued(state, event, at);
    case "request-seen":
      return renewRequest(state, must(state.requests.get(event.id), event.id), at, event.waitMs);
    case "request-left":
      return requestLeft(state, event, at);
    case "claim-ended":
      return claimEnded(state, event, at);
    case "resource-rested":
      return resourceRested(state, event, at);
    case "resource-changed":
      return resourceChanged(state, event, at);
    case "resource-relabelled":
      return resourceRelabelled(state, event, at);
    case "resource-resized":
      return resourceResized(state, event);
    case "resource-added":
      return resourceAdded(state, event, at);
    case "resource-adopted":
      return resourceAdopted(state, event);
    case "resource-retired":
    case "resource-kept":
      return resourceRetired(state, event);
    case "resource-moved":
      return resourceMoved(state, event, at);
    case "resource-removed":
      return resourceRemoved(state, event.resource);
    case "pool-defined":
    case "pool-retired":
    case "pool-removed":
    case "pool-suspended":
    case "pool-resumed":
    case "demand-unmet":
    case "pool-attended":
      return poolEvent(state, event, at);
    case "grace-given":
      return graceGiven(state, at, event.pausedMs);
    case "pool-signalled":
    case "rate-changed":
      return rateEvent(state, event, at);
    case "pool-admitted":
    case "pool-withheld":
      return admissionEvent(state, event, at);
    default:
      return otherEvent(state, event, at);
  }
}

type RareEvent =
  | ClusterEvent
  | HubEvent
  | EventOf<
      | "spaces-defined"
      | "priorities-defined"
      | "priority-changed"
      | "room-kept"
      | "notice-given"
      | "deadline-postponed"
      | "event-skipped"
    >;

/** Events that happen less often than those above. */
function otherEvent(state: State, event: RareEvent, at: Instant): void {
  switch (event.type) {
    case "cluster-moved":
    case "cluster-wanted":
    case "cluster-reported":
    case "cluster-stuck":
    case "cluster-lost":
    case "cluster-held":
    case "cluster-abandoned":
      return clusterEvent(state, event, at);
    case "orphan-found":
    case "orphan-gone":
      return orphanEvent(state, event, at);
    case "hub-defined":
    case "hub-retired":
    case "hub-set":
    case "hub-probed":
      return hubEvent(state, event, at);
    case "claim-replaced":
      return claimReplaced(state, event, at);
    case "spaces-defined":
      return spacesDefined(state, event);
    case "priority-changed":
      return priorityChanged(state, event, at);
    case "room-kept":
      return roomKept(state, event);
    case "notice-given":
      return noticeGiven(state, event, at);
    case "deadline-postponed":
      return postponeFirst(state, event.until);
    case "priorities-defined":
      return prioritiesDefined(state, event);
    case "event-skipped":
      return; // Nobody knows what it changed.
    default:
      return unreachable(event);
  }
}

function unreachable(event: never): never {
  throw new Error(`Cannot apply an event of an unknown type: ${JSON.stringify(event)}`);
}
