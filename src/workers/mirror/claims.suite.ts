import { parseConfig } from "../../config/parse.ts";
import { emptyState } from "../../core/apply/create.ts";
import { decide } from "../../core/decide/decide.ts";
import type { PoolName, RequestId } from "../../core/model/ids.ts";
import type { Claim } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { Amounts } from "../../core/shared/placement/shareable.ts";

/** Returns the claims that a pool, written as in a configuration file, grants for these amounts. */
export function grantedIn(pool: object, ...amounts: readonly (Amounts | undefined)[]): Claim[] {
  const config = parseConfig(JSON.stringify({ pools: { pool } }), "test");
  if (!config.ok) throw new Error(config.problems[0]?.message);
  const state = emptyState();
  const now = 1_700_000_000_000 as Instant;
  decide(state, { type: "configure", pools: config.pools }, now);
  for (const [index, amount] of (amounts.length === 0 ? [undefined] : amounts).entries()) {
    const item = { pool: "pool" as PoolName, count: 1, ...(amount && { amount }) };
    const ask = { holder: `job-${index}`, key: `a-secret-${index}`, items: [item], ttlMs: 60_000 };
    decide(state, { type: "acquire", id: `r${index}` as RequestId, ask, waitMs: 0 }, now);
  }
  return [...state.leases.values()].flatMap(({ claims }) => claims);
}
