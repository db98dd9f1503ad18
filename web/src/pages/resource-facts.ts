/** What the actions on a resource depend on. */
import type { Resource } from "../../../src/api/schemas.ts";

/** The server refuses to change the state of a cluster, and of a resource that is held. */
export function canBeFreed({ lease, shares = [], drained, state, cluster }: Resource): boolean {
  const isHeld = lease !== null || shares.length > 0;
  return !isHeld && !drained && cluster !== true && state !== "free";
}

/** What happens to the holders if the resource is drained. */
export function effectOfDrain({ name, lease, shares = [] }: Resource): string {
  if (lease !== null) {
    return `${lease.holder} keeps ${name} until it releases it. Then it will not be lent again.`;
  }
  if (shares.length === 0) return `${name} will not be lent again.`;
  const leases =
    shares.length === 1
      ? `The lease on ${name} keeps`
      : `The ${shares.length} leases on ${name} keep`;
  const until =
    shares.length === 1
      ? "what it holds until it releases it"
      : "what they hold until they release it";
  return `${leases} ${until}. It gets no new ones.`;
}

/** `By ann: new disk`; nothing if it is not drained, or if the reader may not know by whom. */
export function drainWords({ drainedBy }: Pick<Resource, "drainedBy">): string {
  if (drainedBy === undefined) return "";
  const { by, why } = drainedBy;
  return `By ${by}${why === "" ? "" : `: ${why}`}`;
}
