/** What was said outside of whether a pool may be lent, as the wire carries it. */
import type * as Wire from "../../api/schemas.ts";
import { creditsOf } from "../../core/gates/credits.ts";
import type { Pool } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { Look } from "../metrics/admission-metrics.ts";
import { timestamp } from "../timestamp.ts";

/** The state has what counts, over restarts as well; when it was looked is known to who looks only. */
export function renderAdmission(
  pool: Pool,
  now: Instant,
  look: Look | undefined,
): Wire.Pool["admission"] {
  const { policy, admission } = pool;
  if (policy.admission === undefined) return null;
  const credits = creditsOf(pool, now);
  return {
    by: policy.admission.by,
    credits,
    until: credits === 0 ? null : timestamp(admission.until),
    why: admission.why,
    found: look?.found ?? null,
    lookedAt: look === undefined ? null : timestamp(look.at),
  };
}
