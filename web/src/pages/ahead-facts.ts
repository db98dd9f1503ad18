/** Why others are ahead of a request: by priority, because their space was starved, by its share, or by time. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

type Ranked = Pick<WaitingRequest, "priority" | "space" | "starved" | "queuedAt">;
type Shares = ReadonlyMap<string, number>;

/**
 * As in `src/core/model/rank.ts`: priority, starved requests, the lowest share, first come first served. The
 * last is none of the queue: a request may start before those ahead of it, because it needs less or because
 * shares will have changed.
 */
const rules = ["priority", "starved", "share", "earlier", "sooner"] as const;
type Rule = (typeof rules)[number];

/** Those who are ahead by one rule, and how many of each space. */
export interface Ahead {
  readonly why: Rule;
  readonly count: number;
  /** Most first. Empty: the server knows no spaces. */
  readonly spaces: readonly (readonly [name: string, count: number])[];
}

/** In the order of the rules. Without the shares, those of other spaces are ahead by their share. */
export function groupsAhead(own: Ranked, ahead: readonly Ranked[], shares: Shares): Ahead[] {
  const rulesOf = new Map(ahead.map((other) => [other, whyAhead(other, own, shares)]));
  return rules.flatMap((why) => {
    const by = ahead.filter((other) => rulesOf.get(other) === why);
    const counts = new Map<string, number>();
    for (const { space } of by) {
      if (space !== undefined) counts.set(space, (counts.get(space) ?? 0) + 1);
    }
    const spaces = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
    return by.length === 0 ? [] : [{ why, count: by.length, spaces }];
  });
}

function whyAhead(other: Ranked, own: Ranked, shares: Shares): Rule {
  if (other.priority !== own.priority) return other.priority > own.priority ? "priority" : "sooner";
  if (other.starved === true && own.starved !== true) return "starved";
  const byTime = Date.parse(other.queuedAt) <= Date.parse(own.queuedAt) ? "earlier" : "sooner";
  if (own.starved === true || other.space === own.space) return byTime;
  const [theirs, ours] = [shares.get(other.space ?? ""), shares.get(own.space ?? "")];
  return theirs === undefined || ours === undefined || theirs < ours ? "share" : byTime;
}

/** `115 of spaces with a lower share (100 of payments: 0.4; 15 of web: 0.9; its own, ops: 1)`. */
export function aheadWords(ahead: Ahead, own: string | undefined, shares: Shares): string {
  const { why, count, spaces } = ahead;
  const all = grouped(count);
  const isOne = spaces.length === 1;
  if (why === "earlier") return `${all} came earlier`;
  if (why === "sooner") return `${all} ${count === 1 ? "is" : "are"} expected to start sooner`;
  if (why === "share") {
    const of = isOne ? "a space" : "spaces";
    return `${all} of ${of} with a lower share (${shareWords(spaces, own, shares)})`;
  }
  const names = spaces.map(([name, part]) => (isOne ? name : `${grouped(part)} of ${name}`));
  const whose = isOne ? ` of ${names}` : names.length === 0 ? "" : ` (${names.join(", ")})`;
  if (why === "priority") return `${all}${whose} by priority`;
  return `${all}${whose}, whose ${isOne ? "space" : "spaces"} got nothing of a pool for too long`;
}

/** `payments: 0.4; its own, web: 1`. */
function shareWords(spaces: Ahead["spaces"], own: string | undefined, shares: Shares): string {
  const names = spaces.map(([name, count]) => {
    const share = shares.get(name);
    const whose = spaces.length === 1 ? name : `${grouped(count)} of ${name}`;
    return share === undefined ? whose : `${whose}: ${digits(share)}`;
  });
  const ours = shares.get(own ?? "");
  return [...names, ...(ours === undefined ? [] : [`its own, ${own}: ${digits(ours)}`])].join("; ");
}

/** Three digits tell shares apart. */
function digits(share: number): string {
  return String(Number(share.toFixed(3)));
}
