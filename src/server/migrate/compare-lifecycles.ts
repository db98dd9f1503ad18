import type { PoolSpec } from "../../core/model/policy.ts";
import type { BoskosLifecycle } from "./boskos-objects.ts";

/** Where Boskos kept other numbers of dynamic resources than the file says: the file counts. */
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
      // What Boskos itself is winding up is missing from the file for a reason.
      return max === 0 ? [] : [`${was}, the configuration has no dynamic ones`];
    }
    if (dynamic.min === min && dynamic.max === max) return [];
    return [`${was}, the configuration says ${dynamic.min} to ${dynamic.max}`];
  });
}
