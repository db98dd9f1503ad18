/** Why others are ahead of a request: by priority, by the share of their space, or by time. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

type Ranked = Pick<WaitingRequest, "id" | "position" | "priority" | "space" | "queuedAt">;

/** Requests of one space that are ahead for one reason. */
export interface Ahead {
  /** Empty: the server knows no spaces. */
  readonly space: string;
  readonly why: "priority" | "share" | "earlier";
  readonly count: number;
}

/** Those with the most requests first. */
export function aheadOf(own: Ranked, queue: readonly Ranked[]): Ahead[] {
  const groups = new Map<string, Ahead>();
  for (const other of queue) {
    if (other.id === own.id || other.position >= own.position) continue;
    const [space, why] = [other.space ?? "", whyAhead(other, own)];
    const before = groups.get(`${space} ${why}`);
    groups.set(`${space} ${why}`, { space, why, count: (before?.count ?? 0) + 1 });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || a.space.localeCompare(b.space));
}

/** As in `src/core/model/rank.ts`: the highest priority, the lowest share, first come first served. */
function whyAhead(other: Ranked, own: Ranked): Ahead["why"] {
  if (other.priority > own.priority) return "priority";
  return other.space === own.space ? "earlier" : "share";
}

/** `115 of payments, whose share is lower (0.4, its own 1)`. */
export function aheadWords(
  { space, why, count }: Ahead,
  own: string | undefined,
  shares: ReadonlyMap<string, number>,
): string {
  const of = space === "" ? grouped(count) : `${grouped(count)} of ${space}`;
  if (why === "priority") return `${of} with a higher priority`;
  if (why === "earlier") return `${of} that came earlier`;
  const [theirs, ours] = [shares.get(space), shares.get(own ?? "")];
  if (theirs === undefined || ours === undefined) return `${of}, whose share is lower`;
  // Shares are read apart from the queue, and may have changed since.
  if (theirs > ours) return `${of}, whose share was lower`;
  if (theirs === ours) return `${of} that came earlier, with the same share`;
  return `${of}, whose share is lower (${part(theirs)}, its own ${part(ours)})`;
}

/** Three digits tell shares apart. */
function part(share: number): string {
  return String(Number(share.toFixed(3)));
}

/**
 * For the rows of one queue: `3 ahead: 2 of payments, 1 of its own space`. Empty where the rows are of
 * one space, or where some of those ahead are not among them.
 */
export function spacesAheadWords(queue: readonly Ranked[]): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  if (!hasSeveralSpaces(queue)) return words;
  const counts = new Map<string, number>();
  const inOrder = queue.toSorted((a, b) => a.position - b.position);
  for (const [index, { id, position, space = "" }] of inOrder.entries()) {
    if (position !== index + 1) return words;
    const own = counts.get(space) ?? 0;
    const others = [...counts]
      .filter(([name]) => name !== space)
      .sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
      .map(([name, count]) => `${grouped(count)} of ${name}`);
    const parts = own === 0 ? others : [`${grouped(own)} of its own space`, ...others];
    if (parts.length > 1) words.set(id, `${grouped(index)} ahead: ${parts.join(", ")}`);
    else if (others[0] !== undefined) words.set(id, others[0].replace(" of ", " ahead, of "));
    counts.set(space, own + 1);
  }
  return words;
}

export function hasSeveralSpaces(requests: readonly Pick<WaitingRequest, "space">[]): boolean {
  return new Set(requests.map(({ space }) => space)).size > 1;
}
