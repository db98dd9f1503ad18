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

/** Whether the next request may pass. Without a request that waits for it no check runs. */
export function admissionStatus(facts: {
  readonly credits: number;
  readonly found: string | null;
  readonly waiting: number;
}): { readonly open: boolean; readonly words: string } {
  const { credits, found, waiting } = facts;
  if (credits > 0) return { open: true, words: "open" };
  if (found === "unknown") return { open: false, words: "closed: the check fails" };
  if (waiting === 0) return { open: true, words: "checked on demand" };
  return { open: false, words: found === "none" ? "closed: no capacity" : "closed" };
}
