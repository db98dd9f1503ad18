/**
 * Converts the result of a simulation to the form of the API and the command line: timestamps as
 * text, durations in seconds.
 */
import type * as Wire from "../../api/history-schemas.ts";
import type { Percentiles } from "../history/percentiles.ts";
import type { StatsPart } from "../history/stats.ts";
import type { ReplayedPart } from "./stats-by-pool.ts";
import type { WhatIfReport } from "./what-if.ts";

export function reportOf(report: WhatIfReport): Wire.Simulation {
  const compared = ({ pool, recorded, simulated }: WhatIfReport["total"]) => ({
    pool,
    recorded: withStarts(recorded),
    simulated: withStarts(simulated),
  });
  return {
    from: new Date(report.from).toISOString(),
    to: new Date(report.to).toISOString(),
    requests: report.requests,
    refused: report.refused,
    total: compared(report.total),
    pools: report.pools.map(compared),
    unknowns: [...report.unknowns],
  };
}

function withStarts({ starts, ...part }: ReplayedPart): Wire.ReplayedPart {
  const { withinMs, ...counts } = starts;
  const seconds = (ms: number | null) => (ms === null ? null : ms / 1_000);
  const { p50, p90, p99 } = withinMs;
  const withinSeconds = { p50: seconds(p50), p90: seconds(p90), p99: seconds(p99) };
  return { ...inSeconds(part), starts: { ...counts, withinSeconds } };
}

export function inSeconds(part: StatsPart): Wire.StatsPart {
  const { waitedMs, waitMs, holdMs, upkeep, dimensions, ...rest } = part;
  const { cleaned, failed, cleaningMs } = upkeep;
  return {
    ...rest,
    dimensions: [...dimensions],
    waitedSeconds: waitedMs / 1_000,
    waitSeconds: spreadOf(waitMs),
    holdSeconds: spreadOf(holdMs),
    upkeep: { cleaned, failed, cleaningSeconds: spreadOf(cleaningMs) },
  };
}

function spreadOf(spread: Percentiles | null): Wire.StatsPart["waitSeconds"] {
  if (spread === null) return null;
  const { p50, p90, p99, max, mean } = spread;
  return {
    p50: p50 / 1_000,
    p90: p90 / 1_000,
    p99: p99 / 1_000,
    max: max / 1_000,
    mean: Math.round(mean) / 1_000,
  };
}
