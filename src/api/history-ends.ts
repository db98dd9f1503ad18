/** How past requests and leases have ended: the values of `how` of `GET /v1/history`. */
import type { LeaseEnd, RequestEnd } from "../core/model/event.ts";
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
} from "../core/model/lifecycle.ts";

/**
 * Complete, because the compiler requires a line for each end. Removed are requests, by operators; then come the
 * ends of cleanings. The work on a cluster ends with the state that the cluster has then.
 */
export const historyEnds: Readonly<
  Record<RequestEnd | LeaseEnd | "hold" | "removed" | "cleaned" | "failed" | "stopped", true>
> = {
  cancelled: true,
  removed: true,
  disconnected: true,
  abandoned: true,
  unsatisfiable: true,
  undecidable: true,
  released: true,
  expired: true,
  lifetime: true,
  revoked: true,
  uncollected: true,
  reset: true,
  hold: true,
  cleaned: true,
  failed: true,
  stopped: true,
  ...{ [creatingState]: true, [resumingState]: true, [stoppingState]: true },
  ...{ [destroyingState]: true, [freeState]: true, [hibernatedState]: true, [usedState]: true },
  ...{ [brokenState]: true, [tombstoneState]: true },
};
