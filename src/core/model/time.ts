/** Instants of the broker's clock, and durations as people write them. */

/** Milliseconds since 1970 on the broker's clock, which never runs backwards. */
export type Instant = number & { readonly [instant]: true };
declare const instant: unique symbol;

/** Never due. Sorts behind every deadline. */
export const never = Number.POSITIVE_INFINITY as Instant;

export function after(start: Instant, durationMs: number): Instant {
  return (start + durationMs) as Instant;
}

export function earliest(a: Instant, b: Instant): Instant {
  return a <= b ? a : b;
}

const dated = /^(\d{4})-(\d\d)-(\d\d)/;

/** Whether a text begins with a date of the calendar. JavaScript reads 30 February as 2 March. */
export function hasRealDate(text: string): boolean {
  const [year = 0, month = 0, day = 0] = (dated.exec(text) ?? []).slice(1).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/**
 * Durations as people write them: `90s`, `20m`, `1h30m`, `1.5h`, `2d`. A bare number is refused,
 * because nobody agrees on its unit; only `0` needs none.
 */
const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const whole = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** The pattern that schemas publish, so that editors and clients check what the parser checks. */
export const durationPattern = `^(?:0|${whole.source.slice(1, -1)})$`;

/**
 * The maximum: a thousand years. Longer than any lease, and small enough for exact milliseconds.
 */
const durationMsMax = 1_000 * 365 * 86_400_000;

/** Returns undefined if the text is not a duration, or is longer than a thousand years. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > 32 || !whole.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(part)) {
    totalMs += Number(amount) * (unitMs[unit ?? ""] ?? Number.NaN);
  }
  return totalMs <= durationMsMax ? Math.round(totalMs) : undefined;
}

/** The exact form, such as `1h30m` or `9.5s`. `parseDuration(formatDuration(x)) === x`. */
export function formatDuration(durationMs: number): string {
  let restMs = Math.max(0, Math.round(durationMs));
  if (restMs === 0) return "0s";
  if (restMs < 1_000) return `${restMs}ms`;
  let text = "";
  for (const unit of ["d", "h", "m"]) {
    const size = unitMs[unit] ?? 1;
    const amount = Math.floor(restMs / size);
    if (amount > 0) text += `${amount}${unit}`;
    restMs -= amount * size;
  }
  return restMs === 0 ? text : `${text}${restMs / 1_000}s`;
}

/** A measured or configured duration for people: `51ms`, `0.25s`, `9.5s`, `1m22s`. */
export function briefDuration(durationMs: number): string {
  const seconds = Math.max(0, durationMs) / 1_000;
  if (seconds > 0 && seconds < 0.1) return `${Math.ceil(durationMs)}ms`;
  return seconds < 10 ? `${Number(seconds.toPrecision(2))}s` : roughDuration(durationMs);
}

/** A duration that changes while people read it: at most two units, and only whole seconds. */
export function roughDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return join(Math.floor(seconds / 60), "m", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return join(Math.floor(minutes / 60), "h", minutes % 60, "m");
  const hours = Math.round(minutes / 60);
  return join(Math.floor(hours / 24), "d", hours % 24, "h");
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
