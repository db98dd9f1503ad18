import { formatDuration, parseDuration } from "../core/model/duration.ts";
import { invalid } from "./problems.ts";

export interface DurationRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/** A duration whose form the schema has checked; here its size is. */
export function durationIn(place: string, text: string, { minMs, maxMs }: DurationRange): number {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined && durationMs >= minMs && durationMs <= maxMs) return durationMs;
  const range = `between ${formatDuration(minMs)} and ${formatDuration(maxMs)}`;
  throw invalid(place, `"${text}" is out of range`, `Give a duration ${range}`);
}
