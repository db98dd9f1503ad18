/** The answer to a what-if in words, and how far it can be trusted. */
import type { StatsPart } from "../../../src/api/history-schemas.ts";
import { briefDuration } from "../../../src/core/model/time.ts";

export interface AnswerRow {
  readonly label: string;
  readonly part: StatsPart;
  readonly isToday: boolean;
}

/** The answer in words: today's value beside its neighbours, and from where on more is of no use. */
export function answerWords(rows: readonly AnswerRow[]): string {
  const today = rows.findIndex(({ isToday }) => isToday);
  const now = rows[today];
  const before = now?.part.waitSeconds?.p90;
  if (now === undefined || before === undefined) return "";
  const others = [rows[today - 1], rows[today + 1]].flatMap((row) => {
    const p90 = row?.part.waitSeconds?.p90;
    return row === undefined || p90 === undefined ? [] : [`with ${row.label}: ${briefly(p90)}`];
  });
  if (others.length === 0) return "";
  const told = `With ${now.label}, as today, 9 in 10 started within ${briefly(before)}; ${others.join(", ")}.`;
  return [told, enoughWords(rows, today)].filter((text) => text !== "").join(" ");
}

/** Waits that differ by less are the same to people. */
const samePart = 0.1;
const sameSeconds = 2;

/** From where on no wait is shorter, if waits become shorter at all. */
function enoughWords(rows: readonly AnswerRow[], today: number): string {
  const waits = rows.map(({ part }) => part.waitSeconds?.p90 ?? 0);
  const best = Math.min(...waits);
  const isBest = (wait: number) => wait - best <= Math.max(sameSeconds, samePart * best);
  const enough = waits.findLastIndex((wait) => !isBest(wait)) + 1;
  const label = rows[enough]?.label;
  if (enough === 0) return "None of these values changes the waits.";
  if (label === undefined || enough === rows.length - 1) return "";
  return enough <= today
    ? `More than ${label} would not shorten them.`
    : `From ${label} on, more would not shorten them.`;
}

/** Below these, the replay is as good as the record. */
const noteworthyPart = 0.25;
const noteworthySeconds = 5;

/** A warning if the replay of the pool as it is does not give what was recorded. */
export function distrust(recorded: StatsPart, replayed: StatsPart): string {
  const [was, is] = [recorded.waitSeconds?.p90, replayed.waitSeconds?.p90];
  if (was === undefined || is === undefined) return "";
  const off = Math.abs(is - was);
  if (off < noteworthySeconds || off < noteworthyPart * Math.max(was, is)) return "";
  return `The replay of the pool as it is gives ${briefly(is)} for 90 % and the record ${briefly(was)}, so trust the differences more than the times.`;
}

function briefly(seconds: number): string {
  return briefDuration(seconds * 1_000);
}
