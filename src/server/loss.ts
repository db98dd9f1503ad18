import type { DurableEvent } from "../core/model/event.ts";

/** What it means that an event is skipped, for the operator who decides it. */
export function lossOf(event: DurableEvent | undefined): string {
  if (event === undefined) return "what it changed is not known";
  switch (event.type) {
    case "lease-granted": {
      const resources = event.claims.map(({ resource }) => resource).join(", ");
      return `the lease ${event.id} is lost: ${resources} may be lent again while its job works`;
    }
    case "claim-replaced":
      return `the lease ${event.id} lacks ${event.granted.resource}: it may be lent to another`;
    case "request-queued":
      return `the request ${event.id} is lost: its client must ask again`;
    case "request-left":
      return `the request ${event.id} still waits, until its ttl is over`;
    case "lease-ended":
    case "claim-ended":
    case "lease-revoked":
      return `the lease ${event.id} still holds its resources, until its ttl is over`;
    case "notice-given":
      return `the lease ${event.id} stays, until another notice is given`;
    case "lease-delivered":
    case "room-kept":
    case "event-skipped":
    case "orphan-found":
    case "orphan-gone":
      return "nothing";
    case "spaces-defined":
      return "the spaces stay as they were before, until the next reload";
    case "priorities-defined":
      return "the priorities stay as they were before, until the next reload";
    case "priority-changed":
      return `the request ${event.id} keeps the priority that it had before`;
    case "hub-defined":
    case "hub-retired":
    case "hub-set":
    case "hub-probed":
      return `the hub ${event.name} stays as it was before, until the next reload or probe`;
    default:
      return "resource" in event
        ? `the resource ${event.resource} stays as it was before`
        : `the pool ${event.pool} stays as it was before, until the next reload`;
  }
}
