import type { PoolSpec } from "../../core/model/policy.ts";
import type { BoskosLifecycle } from "./boskos-objects.ts";

/**
 * Lists the pools whose number of dynamic resources in Boskos differs from the file. The file wins.
 */
export function compareLifecycles(
  lifecycles: readonly BoskosLifecycle[],
  pools: readonly PoolSpec[],
): string[] {
  const policies = new Map<string, PoolSpec["policy"]>();
  for (const { name, policy } of pools) policies.set(name, policy);
  return lifecycles.flatMap(({ type, min, max }) => {
    const dynamic = policies.get(type)?.dynamic;
    const was = `Boskos kept ${min} to ${max} of ${type}`;
    if (dynamic === undefined) {
      // Boskos is already deleting these, so the file does not contain them.
      return max === 0 ? [] : [`${was}, the configuration has no dynamic ones`];
    }
    if (dynamic.min === min && dynamic.max === max) return [];
    return [`${was}, the configuration says ${dynamic.min} to ${dynamic.max}`];
  });
}
