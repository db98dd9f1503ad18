import { isScalar } from "yaml";
import { formatDuration, parseDuration } from "../core/model/time.ts";
import type { DurationLimits } from "./limits.ts";
import type { Source, Spot } from "./source.ts";
import { refuseValue } from "./yaml-scalars.ts";

/** In milliseconds; undefined, with the reason in the source, if it is none or beyond limits. */
export function readDuration(
  source: Source,
  spot: Spot,
  { minMs, maxMs }: DurationLimits,
): number | undefined {
  const value = isScalar(spot.node) ? spot.node.value : undefined;
  const text = value === 0 ? "0" : value;
  const durationMs = typeof text === "string" ? parseDuration(text) : undefined;
  if (durationMs === undefined) {
    refuseValue(source, spot, { title: "duration", hint: durationHint(value) });
    return undefined;
  }
  if (durationMs >= minMs && durationMs <= maxMs) return durationMs;
  const [least, most] = [formatDuration(minMs), formatDuration(maxMs)];
  const how = durationMs < minMs ? "shorter" : "longer";
  source.refuse(spot, `${text} is ${how} than is allowed`, `write ${least} to ${most}`);
  return undefined;
}

const wordy = /^(?:\d+(?:\.\d+)?[a-z]+)+$/;
const wordyPart = /(\d+(?:\.\d+)?)([a-z]+)/g;
const bare = /^\d+(?:\.\d+)?$/;

/** What was probably meant: `10m` for "10 minutes", `14d` for "2 weeks", some unit for 10. */
export function durationHint(written: unknown): string {
  const text = String(written)
    .toLowerCase()
    .replaceAll(/[\s,_]|and/g, "");
  if (bare.test(text)) return `add a unit: ${text}s, ${text}m or ${text}h`;
  if (!wordy.test(text)) return otherwise;
  const parts = [...text.matchAll(wordyPart)].map(([, amount = "", word = ""]) => {
    if (/^(?:ms|milli)/.test(word)) return `${amount}ms`;
    const unit = word.charAt(0);
    return unit === "w" ? `${Number(amount) * 7}d` : `${amount}${unit}`;
  });
  const meant = parts.join("");
  return parseDuration(meant) === undefined ? otherwise : `write ${meant}`;
}

const otherwise = "write a number and a unit, such as 90s, 20m or 4h";
