/** Fields that several calls read in the same way. */
import Type from "typebox";
import { limits } from "../api/limits.ts";
import type { Reason } from "../core/model/command.ts";
import { formatDuration, parseDuration } from "../core/model/duration.ts";
import { invalid } from "./problems.ts";

export const IdParams = Type.Object({ id: Type.String({ maxLength: limits.nameLengthMax }) });
export const NameParams = Type.Object({ name: Type.String({ maxLength: limits.nameLengthMax }) });

/** Who acts on behalf of others, and why. The event records it. */
export const auditFields = {
  by: Type.Optional(
    Type.String({
      maxLength: limits.holderLengthMax,
      description: "Who does it, if not the holder",
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 1_024, description: "Why, for people to read" })),
};

export function auditReason(given: {
  readonly by: string | undefined;
  readonly reason: string | undefined;
}): Reason {
  return { by: given.by ?? "operator", why: given.reason ?? "" };
}

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

/** For how long the connection may be held open; 0 unless given. */
export function waitIn(place: string, wait: string | undefined): number {
  if (wait === undefined) return 0;
  return durationIn(place, wait, { minMs: 0, maxMs: limits.waitMsMax });
}
