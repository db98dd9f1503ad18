/** The words of the marks in charts. */
import type { AuditEntry } from "../../../src/api/audit-schemas.ts";
import type { RateChange } from "../../../src/api/schemas.ts";
import type { Mark } from "../parts/time-chart.tsx";
import { rateWords } from "./flow-facts.ts";

export function markAt(at: string, text: string): Mark {
  return { at: Date.parse(at) / 1_000, text };
}

export function rateMarks(changes: readonly RateChange[]): Mark[] {
  return changes.map(({ at, rate, cause, by }) => {
    const what = rate === null ? "no pace" : `${rateWords(rate)} starts per minute`;
    return markAt(at, `${what}: ${cause}${by === null ? "" : ` by ${by}`}`);
  });
}

/** One mark for all entries of a moment. */
export function configurationMarks(entries: readonly AuditEntry[]): Mark[] {
  const moments = new Set(entries.map(({ at }) => at));
  return Array.from(moments, (at) => markAt(at, "the configuration changed"));
}
