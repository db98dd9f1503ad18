import type { ReplayedPart } from "./history-schemas.ts";

/**
 * The wait within which so many of all claims started; null: fewer did. An older server knows only the
 * waits of those that did.
 */
export function startedWithin(
  { starts, waitSeconds }: Pick<ReplayedPart, "starts" | "waitSeconds">,
  share: "p50" | "p90" | "p99",
): number | null {
  return starts === undefined ? (waitSeconds?.[share] ?? null) : starts.withinSeconds[share];
}
