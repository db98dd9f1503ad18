import type { Pool } from "../../../src/api/schemas.ts";
import { hasPace } from "./flow-facts.ts";

/** What can hold requests back although resources are free, in words. */
export function rulesOf(pool: Pool): readonly string[] {
  const limits = pool.flow.limits.filter((limit) => limit.pool !== pool.name);
  return [
    ...(hasPace(pool) ? ["a pace"] : []),
    ...limits.map((limit) => `the limit ${limit.pool}`),
    ...(pool.admission === null ? [] : ["its admission check"]),
    ...(pool.usage === undefined ? [] : ["the size of what they ask for"]),
  ];
}

/** Of a pool whose requests waited while, on average, much of it was free. */
export function heldBackWords(pool: Pool): string {
  const rules = rulesOf(pool);
  const last = rules.at(-1);
  if (last === undefined) {
    return "No rule holds its requests back: it was full while they waited, or they waited for another pool too.";
  }
  const names = rules.length === 1 ? last : `${rules.slice(0, -1).join(", ")} or ${last}`;
  return `Much of it was free: ${names} held requests back.`;
}
