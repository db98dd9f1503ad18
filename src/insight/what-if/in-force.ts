import type { PoolSpec } from "../../core/model/policy.ts";
import { noEntries, type State } from "../../core/model/state.ts";

/** The pools that a state lends by, as a configuration: what is to go is left out. */
export function poolsInForce(state: State): PoolSpec[] {
  return [...state.pools.values()]
    .filter(({ retired }) => !retired)
    .map(({ name, policy, members }) => ({
      name,
      policy,
      // Labels have no part in who waits for how long.
      members: [...members]
        .filter(({ retired }) => !retired)
        .map((resource) => ({ name: resource.name, labels: noEntries })),
    }));
}
