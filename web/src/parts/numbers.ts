/** `12,345`, the same on every machine. */
const format = new Intl.NumberFormat("en");

export function grouped(value: number): string {
  return format.format(value);
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** What is left of all: both add up to 100 %, as they are written. */
export function percentLeft(share: number): string {
  return `${Math.max(0, 100 - Math.round(share * 100))} %`;
}

/** A use above 100 % is possible if resources were made smaller or removed while they were held. */
export function percentInUse(share: number): string {
  return share > 1 ? `${percent(share)}, overcommitted` : percent(share);
}

/** From 0 to 100. The clock of the server may be ahead of its last answer: no time is negative. */
export function percentOfTime(elapsedMs: number, usualSeconds: number): number {
  if (usualSeconds <= 0) return 100;
  return Math.min(100, Math.max(0, Math.round(elapsedMs / 10 / usualSeconds)));
}
