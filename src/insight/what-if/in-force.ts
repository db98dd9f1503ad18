import type { PoolSpec } from "../../core/model/policy.ts";
import { noEntries, type State } from "../../core/model/state.ts";

/** The pools of a state as a configuration, without resources that are marked for deletion. */
export function poolsInForce(state: State): PoolSpec[] {
  return [...state.pools.values()]
    .filter(({ retired }) => !retired)
    .map(({ name, policy, members }) => ({
      name,
      policy,
      // Labels do not influence how long a request waits.
      members: [...members]
        .filter(({ retired }) => !retired)
        .map((resource) => ({ name: resource.name, labels: noEntries })),
    }));
}
