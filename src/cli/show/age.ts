import { briefDuration, roughDuration } from "../../core/model/time.ts";

/** Time since then, such as `3m12s`. Never negative, even if the clocks differ a little. */
export function formatAge(timestamp: string, nowMs: number = Date.now()): string {
  return roughDuration(Math.max(0, nowMs - Date.parse(timestamp)));
}

/** Time until then; `-` for never, `now` for the past. */
export function timeUntil(timestamp: string | null, nowMs: number = Date.now()): string {
  if (timestamp === null) return "-";
  const leftMs = Date.parse(timestamp) - nowMs;
  return leftMs <= 0 ? "now" : roughDuration(leftMs);
}

/** A time to come, and how long until then: `in 2h (15:04)`, with the day unless it is today. */
export function momentAhead(timestamp: string | number, nowMs: number = Date.now()): string {
  const at = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  const leftMs = at.getTime() - nowMs;
  const distance = leftMs < 0 ? `${roughDuration(-leftMs)} ago` : `in ${roughDuration(leftMs)}`;
  return `${distance} (${isToday ? "" : day}${clock})`;
}

/** For a time that still runs: it changes with every refresh, so it has only whole seconds. */
export function formatSeconds(value: number | null): string {
  return value === null ? "-" : roughDuration(value * 1_000);
}

/** For a time that was measured or configured. */
export function formatMeasured(value: number | null): string {
  return value === null ? "-" : briefDuration(value * 1_000);
}

/** Formats labels as the user types them: `team=payments,tier=gold`. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
