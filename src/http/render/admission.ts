/** What the admission check of a pool found, as the wire carries it. */
import type * as Wire from "../../api/schemas.ts";
import type { AdmissionView } from "../../core/explain/pool-view.ts";
import type { Look } from "../metrics/admission-metrics.ts";
import { timestamp } from "../timestamp.ts";

/** Credits are in the state and survive restarts; when the check ran, only the checker knows. */
export function renderAdmission(
  admission: AdmissionView | null,
  look: Look | undefined,
): Wire.Pool["admission"] {
  if (admission === null) return null;
  const { by, credits, until, why } = admission;
  return {
    by,
    credits,
    until: until === null ? null : timestamp(until),
    why,
    found: look?.found ?? null,
    lookedAt: look === undefined ? null : timestamp(look.at),
    nextLookAt: look === undefined ? null : timestamp(look.nextAt),
  };
}
