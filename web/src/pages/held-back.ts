import type { Pool } from "../../../src/api/schemas.ts";
import type { Space } from "../../../src/api/space-schemas.ts";
import { hasPace } from "./flow-facts.ts";

/** The spaces that may not hold all of a pool, and how much each may: `payments (5) and web (4)`. */
export function quotasOf(pool: string, spaces: readonly Pick<Space, "name" | "quotas">[]): string {
  const names = spaces.flatMap(({ name, quotas }) =>
    quotas
      .filter((quota) => quota.pool === pool)
      .map(({ max, dimension }) => `${name} (${max}${dimension === null ? "" : ` ${dimension}`})`),
  );
  return listed(names, "and");
}

/** More of a pool is not for a space that holds all that it may. */
export function quotaWords(quotas: string): string {
  return quotas === "" ? "" : `The quotas of ${quotas} stay.`;
}

function listed(names: readonly string[], by: "and" | "or"): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} ${by} ${last}`;
}

/** What can hold requests back although resources are free, in words. */
export function rulesOf(pool: Pool, quotas = ""): readonly string[] {
  const limits = pool.flow.limits.filter((limit) => limit.pool !== pool.name);
  return [
    ...(hasPace(pool) ? ["a pace"] : []),
    ...limits.map((limit) => `the limit ${limit.pool}`),
    ...(quotas === "" ? [] : [`the quota of ${quotas}`]),
    ...(pool.admission === null ? [] : ["its admission check"]),
    ...(pool.usage === undefined ? [] : ["the size of what they ask for"]),
  ];
}

/** Of a pool whose requests waited while, on average, much of it was free. */
export function heldBackWords(pool: Pool, quotas = ""): string {
  const rules = rulesOf(pool, quotas);
  if (rules.length === 0) {
    return "No rule holds its requests back: it was full while they waited, or they waited for another pool too.";
  }
  return `Much of it was free: ${listed(rules, "or")} held requests back.`;
}
