import Type from "typebox";
import { durationPattern, formatDuration } from "../core/model/time.ts";
import { type DurationLimits, nameLengthMax, stateLengthMax } from "./limits.ts";

/** What many keys of the file are made of. */
export const Name = Type.String({
  title: "name",
  pattern: `^[A-Za-z0-9][A-Za-z0-9._-]{0,${nameLengthMax - 1}}$`,
});

const statePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,${stateLengthMax - 1}}$`;
export const StateName = Type.String({ title: "state", pattern: statePattern });

interface About {
  readonly example: string;
  readonly description: string;
  readonly defaultMs?: number;
}

export function duration({ minMs, maxMs }: DurationLimits, about: About) {
  const { example, description, defaultMs } = about;
  // Zero needs no unit, and YAML reads it as a number.
  const forms = [Type.String({ pattern: durationPattern }), Type.Literal(0)];
  return Type.Union(forms, {
    title: "duration",
    description: `${description} From ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
    examples: [example],
    ...(defaultMs === undefined ? {} : { default: formatDuration(defaultMs) }),
  });
}
