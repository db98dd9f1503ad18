import { roughDuration } from "../../core/model/duration.ts";

/** How long ago, such as `3m12s`. Clocks that differ a little do not make it negative. */
export function formatAge(timestamp: string, nowMs: number = Date.now()): string {
  return roughDuration(Math.max(0, nowMs - Date.parse(timestamp)));
}

/** How long until then; `-` for never, `now` for what is due. */
export function timeUntil(timestamp: string | null, nowMs: number = Date.now()): string {
  if (timestamp === null) return "-";
  const leftMs = Date.parse(timestamp) - nowMs;
  return leftMs <= 0 ? "now" : roughDuration(leftMs);
}

export function formatSeconds(value: number | null): string {
  return value === null ? "-" : roughDuration(value * 1_000);
}

/** `team=payments,tier=gold`, as it is typed. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
