import type { HistoryEntry, OpenEntry } from "../history/entry.ts";
import { sorted } from "../history/percentiles.ts";

/** How many of the claims of a period started in it, and within which wait. */
export interface Starts {
  /** Asked for in the period, or waiting at its beginning. */
  readonly claims: number;
  readonly started: number;
  /** Null: fewer of all claims than this share started. */
  readonly withinMs: Readonly<Record<"p50" | "p90" | "p99", number | null>>;
}

interface Past {
  readonly ended: Iterable<HistoryEntry>;
  readonly open: Iterable<OpenEntry>;
}

/**
 * Percentiles of the claims that started say nothing about those that did not: the fewer start, the
 * shorter the waits of these few may be. So a claim that has not started by the end has waited for ever.
 */
export function startsOf(
  { from, to }: { readonly from: number; readonly to: number },
  { ended, open }: Past,
  refused: number,
): Starts {
  const waits: number[] = [];
  let notStarted = refused;
  const count = (askedAt: number, grantedAt: number | null, claims: number) => {
    if (askedAt >= to || (grantedAt !== null && grantedAt < from)) return;
    if (grantedAt === null || grantedAt >= to) notStarted += claims;
    else for (let claim = 0; claim < claims; claim++) waits.push(grantedAt - askedAt);
  };
  for (const { purpose, askedAt, grantedAt, endedAt, count: claims } of ended) {
    if (purpose === "use" && endedAt >= from) count(askedAt, grantedAt, claims);
  }
  for (const { askedAt, grantedAt, items, claims } of open) {
    const asked = items.filter(isUse).reduce((sum, item) => sum + item.count, 0);
    count(askedAt, grantedAt, grantedAt === null ? asked : claims.filter(isUse).length);
  }
  sorted(waits);
  const claims = waits.length + notStarted;
  const within = (share: number) => waits[Math.max(0, Math.ceil(claims * share) - 1)] ?? null;
  return {
    ...{ claims, started: waits.length },
    withinMs: { p50: within(0.5), p90: within(0.9), p99: within(0.99) },
  };
}

function isUse({ purpose }: { readonly purpose?: unknown }): boolean {
  return purpose === undefined;
}
