/** How fast a pool lends, and the limits that it shares with others, as the wire carries it. */
import type * as Wire from "../../api/schemas.ts";
import type { Reader } from "../../core/explain/out-of-use.ts";
import type { FlowView } from "../../core/explain/pool-view.ts";
import type { PoolName } from "../../core/model/ids.ts";
import type { RateChange } from "../../core/model/state.ts";
import type { Sight } from "../sight.ts";
import { timestamp } from "../timestamp.ts";
import { timestampOrNull } from "./lease.ts";

export function renderFlow(flow: FlowView, reader: Reader): Wire.Pool["flow"] {
  const { everyMs, rate, advisedRate, nextAt, nextBy, pin, signals, limits } = flow;
  return {
    everySeconds: everyMs === null ? null : everyMs / 1_000,
    rate,
    advisedRate,
    nextGrantAt: timestampOrNull(nextAt),
    nextGrantBy: nextBy,
    pinned: pin && { ...pin, ...(reader === "all" ? undefined : unnamed), at: timestamp(pin.at) },
    reports: { ...signals },
    limits: [...limits],
  };
}

/** Of an operator, for readers who do not see all. */
const unnamed = { by: "", why: "" } as const;

export function renderRateHistory(
  pool: PoolName,
  changes: readonly RateChange[],
  { sees, reader }: { readonly sees: Sight; readonly reader: Reader },
): Wire.RateHistory {
  return {
    pool,
    changes: changes.map(({ at, rate, was, cause, advised }) => {
      // What a holder has reported is for its space, and what an operator has written for operators.
      const isHidden = cause.lease === undefined ? reader === "space" : !sees(cause.lease);
      const { lease = null, by = null, why = null } = isHidden ? {} : cause;
      return { at: timestamp(at), rate, was, cause: cause.how, lease, by, why, advised };
    }),
  };
}
