/** One line for each kind of trouble, the most severe kind first. */
import type { Attention, AttentionItem } from "../../api/attention-schemas.ts";
import type { Instant } from "../../core/model/time.ts";
import { timestampOrNull } from "../render/lease.ts";
import { type AttentionCode, troubleWords, wordsOf } from "./words.ts";

/** One thing that needs somebody. */
export interface Found {
  readonly code: AttentionCode;
  readonly kind: string;
  readonly name: string;
  /** The pool that has it. Absent: it is not of one pool. */
  readonly pool?: string;
  /** Pools without resources whose limits cause it. */
  readonly limits?: readonly string[];
  readonly since: Instant | null;
  readonly text: string;
}

/** A summary that names more is not read. */
const listedMax = 20;

const codes = Object.keys(troubleWords) as AttentionCode[];

export function grouped(found: readonly Found[]): AttentionItem[] {
  return codes.flatMap((code): AttentionItem[] => {
    const same = found.filter((one) => one.code === code).toSorted(byAge);
    if (same.length === 0) return [];
    const { severity, summary, advice, command = "" } = wordsOf(code);
    return [
      {
        ...{ code, severity, summary: summary(same.length), advice, command },
        since: timestampOrNull(same[0]?.since ?? null),
        count: same.length,
        about: same.slice(0, listedMax).map(({ kind, name, since, text }) => {
          return { kind, name, since: timestampOrNull(since), text };
        }),
      },
    ];
  });
}

/** All pools with trouble, by name: also those that the list of a kind is too short for. */
export function poolsIn(found: readonly Found[]): Attention["pools"] {
  const kinds = new Map<string, Set<string>>();
  for (const { pool, limits = [], code } of found) {
    const names = pool === undefined ? limits : [pool, ...limits];
    for (const name of names) kinds.set(name, (kinds.get(name) ?? new Set()).add(code));
  }
  return Array.from(kinds, ([name, codes]) => ({ name, codes: [...codes].sort() })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

/** The oldest first; what nobody knows the age of comes last. */
function byAge(a: Found, b: Found): number {
  const [first, second] = [a.since ?? Infinity, b.since ?? Infinity];
  return first === second ? a.name.localeCompare(b.name) : first - second;
}
