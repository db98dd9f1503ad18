/** How fast a pool lends, and the limits that it shares with others, as the wire carries it. */
import type * as Wire from "../../api/schemas.ts";
import type { FlowView } from "../../core/explain/pool-view.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { RateChange } from "../../core/model/state.ts";
import type { Sight } from "../sight.ts";
import { timestamp } from "../timestamp.ts";
import { timestampOrNull } from "./lease.ts";

export function renderFlow(flow: FlowView): Wire.Pool["flow"] {
  const { everyMs, rate, advisedRate, nextAt, nextBy, pin, signals, limits } = flow;
  return {
    everySeconds: everyMs === null ? null : everyMs / 1_000,
    rate,
    advisedRate,
    nextGrantAt: timestampOrNull(nextAt),
    nextGrantBy: nextBy,
    pinned: pin && { ...pin, at: timestamp(pin.at) },
    reports: { ...signals },
    limits: [...limits],
  };
}

export function renderRateHistory(
  pool: PoolName,
  changes: readonly RateChange[],
  sees: Sight,
): Wire.RateHistory {
  return {
    pool,
    changes: changes.map(({ at, rate, was, cause, advised }) => {
      // What a holder of another space has reported is for that space.
      const isHidden = cause.lease !== undefined && !sees(cause.lease);
      const { lease = null, by = null, why = null } = isHidden ? {} : cause;
      return { at: timestamp(at), rate, was, cause: cause.how, lease, by, why, advised };
    }),
  };
}
