/** What the page says of a pool that is lent only on a word from outside. */
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";

type Admission = NonNullable<Pool["admission"]>;

/** So many more may be lent at this moment. */
export function creditsAt({ credits, until }: Admission, nowMs: number): number {
  return until === null || Date.parse(until) <= nowMs ? 0 : credits;
}

const found: Readonly<Record<string, string>> = {
  room: "found room",
  none: "found no room",
  unknown: "could not tell",
};

/** What a server says that is newer than this page is told as it comes. */
export function foundWords(what: string | null): string {
  return what === null ? "" : (found[what] ?? what);
}

/** Those whom nothing but the word holds back, the first in line first. */
export function waitingForWord(
  requests: readonly WaitingRequest[],
  pool: string,
): readonly WaitingRequest[] {
  return requests.filter(({ reason }) => reason.code === "admission" && reason.pool === pool);
}
