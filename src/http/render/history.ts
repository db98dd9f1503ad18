/** History and statistics as the wire carries them: milliseconds become seconds. */
import type * as Wire from "../../api/history-schemas.ts";
import type { Instant } from "../../core/model/time.ts";
import type { HistoryEntry } from "../../insight/history/entry.ts";
import type { RecordedStats } from "../../insight/history/reader.ts";
import type { StatsPart, StatsRange } from "../../insight/history/stats.ts";
import { inSeconds } from "../../insight/what-if/report.ts";
import { timestamp } from "../timestamp.ts";
import { timestampOrNull } from "./lease.ts";

export function renderEntry(entry: HistoryEntry): Wire.HistoryEntry {
  const {
    number: _number,
    askedSeq: _seq,
    asked: _asked,
    askedAt,
    grantedAt,
    endedAt,
    ...rest
  } = entry;
  return {
    ...rest,
    askedAt: timestamp(askedAt as Instant),
    grantedAt: timestampOrNull(grantedAt as Instant | null),
    endedAt: timestamp(endedAt as Instant),
    waitSeconds: ((grantedAt ?? endedAt) - askedAt) / 1_000,
    holdSeconds: grantedAt === null ? null : (endedAt - grantedAt) / 1_000,
  };
}

export function renderStats(stats: RecordedStats, pool: string | null): Wire.Stats {
  return {
    pool,
    from: timestamp(stats.from as Instant),
    to: timestamp(stats.to as Instant),
    stepSeconds: stats.stepMs / 1_000,
    total: inSeconds(stats.total),
    steps: stats.steps.map(({ at, ...part }) => {
      return { at: timestamp(at as Instant), ...inSeconds(part) };
    }),
    outages: stats.outages.map(({ what, name, from, to }) => {
      return {
        ...{ what, name, from: timestamp(from as Instant) },
        to: timestampOrNull(to as Instant | null),
      };
    }),
  };
}

export function renderPoolStats(
  { from, to }: StatsRange,
  pools: ReadonlyMap<string, StatsPart>,
): Wire.PoolStats {
  const rows = [...pools].sort(([a, one], [b, other]) => {
    return other.waitedMs - one.waitedMs || (a < b ? -1 : 1);
  });
  return {
    from: timestamp(from as Instant),
    to: timestamp(to as Instant),
    pools: rows.map(([pool, part]) => ({ pool, ...inSeconds(part) })),
  };
}
