import type { PoolSpec, Silence } from "../core/model/policy.ts";
import type { GoodConfig } from "./parse.ts";

/** What a Boskos file cannot say: when what silent holders have is taken back. */
export interface BoskosExpiry extends Silence {
  /** Beside those that Boskos's own reaper looks at. */
  readonly moreStates: readonly string[];
}

/** In these a resource is in somebody's hands, as Boskos's clients use them. */
export const reapedStates: readonly string[] = ["busy", "cleaning", "leased"];

/** Lets silent holders of a Boskos file's pools expire; a file of Berth's own says it itself. */
export function withExpiry(config: GoodConfig, expiry: BoskosExpiry | undefined): GoodConfig {
  if (config.format !== "boskos" || expiry === undefined) return config;
  const { afterMs, to, moreStates } = expiry;
  const states = [...reapedStates, ...moreStates];
  const silence = Object.fromEntries(states.map((state) => [state, { afterMs, to }]));
  return { ...config, pools: config.pools.map((pool) => withSilence(pool, silence)) };
}

function withSilence(pool: PoolSpec, silence: Readonly<Record<string, Silence>>): PoolSpec {
  return { ...pool, policy: { ...pool.policy, silence } };
}
