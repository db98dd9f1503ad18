/** What all requests of a queue wait for, so that it is said once and not in every row. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";

/** With fewer rows, the sentence in each row is easier to read. */
const rowsMin = 3;

/** The part of a reason before its last semicolon: after it is what differs, such as `3 ahead`. */
function causeOf(message: string): string {
  return message.slice(0, Math.max(0, message.lastIndexOf("; ")));
}

/** `region limit reached` of `region limit reached: 4 of 4 held`. */
function headOf(message: string): string {
  return message.slice(0, Math.max(0, message.indexOf(": ")));
}

/** Empty unless it holds for every row. */
export function commonReason(rows: readonly WaitingRequest[]): string {
  if (rows.length < rowsMin) return "";
  const [cause = "", ...otherCauses] = new Set(rows.map(({ reason }) => causeOf(reason.message)));
  if (otherCauses.length === 0) return cause;
  // What each asks for differs, and so do the numbers.
  const [head = "", ...otherHeads] = new Set(rows.map(({ reason }) => headOf(reason.message)));
  return otherHeads.length === 0 ? head : "";
}

/** On the page of a pool its pace stands above, with numbers that change all the time: once is enough. */
export function withoutPace(reason: string): string {
  return reason.replace(/, paced(?: by ([^:]+))?: one every [^;]*/, (_, by: string | undefined) => {
    return `, held back by the pace${by === undefined ? "" : ` of ${by}`}`;
  });
}

const quotaReason =
  /^(\S+) holds (\S+) of its quota of (\S+) ([^(,;]+?)(?: \([^)]*\))?, (\S+) needed/;

/** A quota in a list, as short as a limit. The page of the request names those who hold it. */
export function shortQuota(reason: string): string {
  return reason.replace(
    quotaReason,
    (_, space: string, held: string, max: string, unit: string, needed: string) => {
      const part = `${held}/${max} ${unit}`;
      if (held === max) return `${space} quota reached (${part})`;
      return `${space} quota: ${part}, ${needed} needed`;
    },
  );
}

/** The reason of one row, without what is said above it. */
export function ownReason(message: string, common: string): string {
  if (message === common) return "";
  const isCommon = [causeOf(message), headOf(message)].includes(common);
  if (common === "" || !isCommon) return message;
  const own = message.slice(common.length + 2);
  // A name stays as it is.
  if (headOf(message) === common) return own;
  return `${own.charAt(0).toUpperCase()}${own.slice(1)}`;
}
