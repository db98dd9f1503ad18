/** The public view of a shared resource: what is in use, who has it, and for whom the rest is reserved. */
import type { RequestId } from "../model/ids.ts";
import type { SharedResource } from "../model/state.ts";
import type { Instant } from "../model/time.ts";
import type { Amounts } from "../shared/placement/shareable.ts";
import { formatTaint } from "../shared/placement/taint.ts";
import { type ReservationView, reservationsOn, type Usage, usagesOf } from "./explain-capacity.ts";

export interface SharedView {
  readonly usage: readonly Usage[];
  readonly taints: readonly string[];
  readonly shares: readonly {
    readonly id: RequestId;
    readonly holder: string;
    readonly since: Instant;
    readonly amount: Amounts;
  }[];
  readonly reservations: readonly ReservationView[];
}

export function sharedView(resource: SharedResource): SharedView {
  return {
    usage: usagesOf(resource),
    taints: (resource.spec.taints ?? []).map(formatTaint),
    shares: Array.from(resource.claims, ({ lease, amount }) => {
      return { id: lease.id, holder: lease.ask.holder, since: lease.grantedAt, amount };
    }),
    reservations: reservationsOn(resource),
  };
}
