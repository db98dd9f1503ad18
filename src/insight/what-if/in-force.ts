import type { Tenancy } from "../../core/decide/configure.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import type { State } from "../../core/model/state.ts";

/**
 * The pools of a state as a configuration. Dynamic resources are no part of it: a pool makes them
 * when they are needed.
 */
export function poolsInForce(state: State): PoolSpec[] {
  return [...state.pools.values()]
    .filter(({ retired }) => !retired)
    .map(({ name, policy, members }) => ({
      name,
      policy,
      members: [...members]
        .filter(({ retired, dynamic }) => !retired && !dynamic)
        .map((resource) => ({
          name: resource.name,
          labels: resource.labels,
          ...(resource.sharing === "shared" ? { room: resource.spec } : undefined),
        })),
    }));
}

/** The spaces, priorities and hubs of a state as a configuration. */
export function tenancyInForce(state: State): Tenancy {
  const spaces = Array.from(state.spacePolicies, ([name, policy]) => ({ name, policy }));
  const hubs = [...state.hubs.values()].filter(({ retired }) => !retired).map(({ spec }) => spec);
  const { otherSpaces: others, priorities } = state;
  return { spaces: { spaces, others }, priorities, hubs };
}
