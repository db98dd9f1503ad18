import type { Instant } from "../core/model/time.ts";

/** Replies repeat a few different seconds, and formatting a second is the costly part. */
const prefixes = new Map<number, string>();
const prefixesMax = 1_024;

/** RFC 3339 with milliseconds. */
export function timestamp(instant: Instant): string {
  const second = Math.floor(instant / 1_000);
  let prefix = prefixes.get(second);
  if (prefix === undefined) {
    prefix = new Date(second * 1_000).toISOString().slice(0, -4);
    if (prefixes.size >= prefixesMax) prefixes.clear();
    prefixes.set(second, prefix);
  }
  const millis = instant - second * 1_000;
  return `${prefix}${millis < 10 ? "00" : millis < 100 ? "0" : ""}${millis}Z`;
}
