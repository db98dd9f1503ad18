/** The page's texts for a pool with `admission`. */
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";

type Admission = NonNullable<Pool["admission"]>;

/** How many more claims may be granted now. */
export function creditsAt({ credits, until }: Admission, nowMs: number): number {
  return until === null || Date.parse(until) <= nowMs ? 0 : credits;
}

const found: Readonly<Record<string, string>> = {
  room: "capacity found",
  none: "no capacity found",
  unknown: "check failed",
};

/** A newer server may send other words. They are shown as they are. */
export function foundText(what: string | null): string {
  return what === null ? "" : (found[what] ?? what);
}

/** Requests that wait only for admission, in queue order. */
export function waitingForAdmission(
  requests: readonly WaitingRequest[],
  pool: string,
): readonly WaitingRequest[] {
  return requests.filter(({ reason }) => reason.code === "admission" && reason.pool === pool);
}
