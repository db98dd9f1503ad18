/** The words of the marks in charts. */
import type { AuditEntry } from "../../../src/api/audit-schemas.ts";
import type { Stats } from "../../../src/api/history-schemas.ts";
import type { RateChange } from "../../../src/api/schemas.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import type { Mark } from "../parts/chart-marks.ts";
import { rateWords } from "./flow-facts.ts";

export function markAt(at: string, text: string): Mark {
  return { at: Date.parse(at) / 1_000, text };
}

/** Reports change a rate in many small steps, which have a chart of their own. */
const bySteps: readonly string[] = ["throttled", "clean"];

export function rateMarks(changes: readonly RateChange[]): Mark[] {
  const single = changes.filter(({ cause }) => !bySteps.includes(cause));
  return single.map(({ at, rate, cause, by }) => {
    const what = rate === null ? "no pace" : `${rateWords(rate)} starts per minute`;
    return markAt(at, `${what}: ${cause}${by === null ? "" : ` by ${by}`}`);
  });
}

type Outage = Stats["outages"][number];

/** Times in which something was away. One that goes on ends now. */
export function outageMarks(outages: readonly Outage[], nowMs: number): Mark[] {
  return outages.map(({ what, name, from, to }) => {
    const [start, end] = [Date.parse(from), to === null ? nowMs : Date.parse(to)];
    const text = `${awayWords(what, name)} for ${roughDuration(end - start)}`;
    return { at: start / 1_000, until: end / 1_000, text };
  });
}

function awayWords(what: Outage["what"], name: string | null): string {
  if (what === "server") return "the server did not run";
  return what === "journal" ? "the journal could not be written" : `hub ${name} did not answer`;
}

/** Whether nothing could be lent in the whole time, so that a curve has a gap there. */
export function isAwayIn(outages: readonly Outage[], fromMs: number, toMs: number): boolean {
  return outages.some(({ what, from, to }) => {
    const end = to === null ? Number.POSITIVE_INFINITY : Date.parse(to);
    return what !== "hub" && Date.parse(from) <= fromMs && end >= toMs;
  });
}

/** The start of the server, unless an outage ends with it. */
export function startMarks(startedAt: string | undefined, outages: readonly Outage[]): Mark[] {
  if (startedAt === undefined) return [];
  const isRestart = outages.some(({ what, to }) => {
    const apartMs = Math.abs(Date.parse(to ?? "") - Date.parse(startedAt));
    return what === "server" && apartMs < restartMs;
  });
  return isRestart ? [] : [markAt(startedAt, "the server started")];
}

/** A server reads its journal before it answers. */
const restartMs = 60_000;

/** One mark for all entries of a moment. */
export function configurationMarks(entries: readonly AuditEntry[]): Mark[] {
  const moments = new Set(entries.map(({ at }) => at));
  return Array.from(moments, (at) => markAt(at, "the configuration changed"));
}
