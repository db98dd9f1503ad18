/** The time that a list is about: how long ago, such as `1h`, or from one moment to another. */

export interface TimeRange {
  readonly since: string;
  readonly until: string;
}

/** Whether moments are given, and not only an age or nothing. */
export function isMoments({ since, until }: TimeRange): boolean {
  return until !== "" || since.includes("-");
}

/** The hour that ends now, from a full minute on. */
export function lastHour(nowMs: number): string {
  const minuteMs = 60_000;
  return new Date(Math.floor(nowMs / minuteMs) * minuteMs - 60 * minuteMs).toISOString();
}

/** As a field for a local time has it, `2026-11-17T14:03:07`; empty if it is no moment. */
export function fieldText(at: string): string {
  const ms = Date.parse(at);
  if (!at.includes("-") || Number.isNaN(ms)) return "";
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, "2026-11-17T14:03:07".length);
}

/** The moment of such a field; empty if nothing is in it. */
export function momentOf(field: string): string {
  const ms = field === "" ? Number.NaN : new Date(field).getTime();
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}

/** Whether something that happens at this moment can be in it. */
export function isBefore(at: string, until: string | undefined): boolean {
  return until === undefined || Date.parse(at) < Date.parse(until);
}
