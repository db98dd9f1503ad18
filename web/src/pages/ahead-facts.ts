/** Why others are ahead of a request: by priority, because their space was starved, by its share, or by time. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "../parts/numbers.ts";

type Ranked = Pick<WaitingRequest, "priority" | "space" | "starved">;

/** As in `src/core/model/rank.ts`: priority, starved requests, the lowest share, first come first served. */
const rules = ["priority", "starved", "share", "earlier"] as const;
type Rule = (typeof rules)[number];

/** Those who are ahead by one rule, and how many of each space. */
export interface Ahead {
  readonly why: Rule;
  readonly count: number;
  /** Most first. Empty: the server knows no spaces. */
  readonly spaces: readonly (readonly [name: string, count: number])[];
}

/** In the order of the rules. */
export function groupsAhead(own: Ranked, ahead: readonly Ranked[]): Ahead[] {
  return rules.flatMap((why) => {
    const by = ahead.filter((other) => whyAhead(other, own) === why);
    const counts = new Map<string, number>();
    for (const { space } of by) {
      if (space !== undefined) counts.set(space, (counts.get(space) ?? 0) + 1);
    }
    const spaces = [...counts].sort(([a, x], [b, y]) => y - x || a.localeCompare(b));
    return by.length === 0 ? [] : [{ why, count: by.length, spaces }];
  });
}

function whyAhead(other: Ranked, own: Ranked): Rule {
  if (other.priority > own.priority) return "priority";
  if (other.starved === true && own.starved !== true) return "starved";
  if (own.starved === true) return "earlier";
  return other.space === own.space ? "earlier" : "share";
}

const starvedRule = "because their space got nothing for the patience of a pool";

/** `115 by fair share (100 of payments, share 0.4; 15 of web, share 0.9; its own space has 1)`. */
export function aheadWords(
  { why, count, spaces }: Ahead,
  own: string | undefined,
  shares: ReadonlyMap<string, number>,
): string {
  if (why === "earlier") return `${grouped(count)} came earlier`;
  if (why === "priority" || why === "starved") {
    const names = spaces.map(([name, of]) => `${grouped(of)} of ${name}`).join(", ");
    const rule = why === "priority" ? "by priority" : starvedRule;
    return `${grouped(count)} ${rule}${names === "" ? "" : ` (${names})`}`;
  }
  const names = spaces.map(([name, of]) => {
    const share = shares.get(name);
    return `${grouped(of)} of ${name}${share === undefined ? "" : `, share ${part(share)}`}`;
  });
  const ours = shares.get(own ?? "");
  const last = ours === undefined ? "" : `; its own space has ${part(ours)}`;
  return `${grouped(count)} by fair share (${names.join("; ")}${last})`;
}

/** Three digits tell shares apart. */
function part(share: number): string {
  return String(Number(share.toFixed(3)));
}
