/** How fast a pool lends and how much with its kin, as the wire carries it. */
import type * as Wire from "../../api/schemas.ts";
import { limitViews, nextGrant } from "../../core/explain/explain.ts";
import { intervalMs } from "../../core/gates/pace.ts";
import { rateOf } from "../../core/gates/rate.ts";
import type { Pool } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { timestamp } from "../timestamp.ts";
import { timestampOrNull } from "./lease.ts";

export function renderFlow(pool: Pool, now: Instant): Wire.Pool["flow"] {
  const every = intervalMs(pool);
  const { nextAt, nextBy } = nextGrant(pool, now);
  const { pin, adaptive, policy, signals } = pool;
  return {
    everySeconds: every === 0 ? null : every / 1_000,
    rate: rateOf(pool),
    advisedRate: policy.adaptive?.mode === "advise" ? (adaptive?.rate ?? null) : null,
    nextGrantAt: timestampOrNull(nextAt),
    nextGrantBy: nextBy,
    pinned: pin && { ...pin, at: timestamp(pin.at) },
    reports: { ...signals },
    limits: limitViews(pool),
  };
}

export function renderRateHistory({ name, rateHistory }: Pool): Wire.RateHistory {
  return {
    pool: name,
    changes: rateHistory.map(({ at, rate, was, cause, advised }) => ({
      at: timestamp(at),
      rate,
      was,
      cause: cause.how,
      lease: cause.lease ?? null,
      by: cause.by ?? null,
      why: cause.why ?? null,
      advised,
    })),
  };
}
