/** The order in which resources are tried. A lower key comes first; equal keys by configuration. */
import type { Strategy } from "../../model/strategies.ts";
import type { Demand } from "./demand.ts";
import { type Planned, type Shareable, usageOf, usageSum } from "./shareable.ts";
import { penalty } from "./taint.ts";

/**
 * The sort key of a pool's index. `least-fragmenting` depends on the request, so its index has the
 * order for equal resources: fullest first.
 */
export function standingKey(strategy: Strategy, resource: Shareable, planned?: Planned): number {
  switch (strategy) {
    case "least-used":
      return usageSum(resource, planned);
    case "pack":
    case "least-fragmenting":
      return -usageSum(resource, planned);
    case "round-robin":
      return resource.lastFence;
  }
}

/**
 * How much of a resource could no longer be used because another dimension is short: the free
 * shares above the smallest free share. Returns the change that the request would cause.
 */
export function strandedBy(resource: Shareable, demand: Demand): number {
  // Rounded, so that rounding errors of fractions do not decide between equal resources.
  return Math.round((stranded(resource, demand) - stranded(resource, undefined)) * 1e9);
}

function stranded(resource: Shareable, demand: Demand | undefined): number {
  let [sum, least] = [0, 1];
  for (const level of resource.levels) {
    const asked = demand?.amounts.find(([name]) => name === level.name)?.[1] ?? 0;
    const free = 1 - usageOf({ ...level, used: level.used + asked });
    sum += free;
    least = Math.min(least, free);
  }
  return sum - least * resource.levels.length;
}

/**
 * Sorts resources for this demand. Resources with a `PreferNoSchedule` taint that the demand does
 * not tolerate come last.
 */
export function inOrder<Resource extends Shareable>(
  resources: Iterable<Resource>,
  demand: Demand,
  own: Strategy,
  plan?: ReadonlyMap<Shareable, Planned>,
): Resource[] {
  const { strategy = own, tolerations } = demand.placing;
  const all = [...resources];
  const keys = new Map<Resource, readonly [number, number, number]>();
  let tainted = false;
  for (const resource of all) {
    const taints =
      resource.spec.taints === undefined ? 0 : penalty(resource.spec.taints, tolerations);
    if (taints > 0) tainted = true;
    const first = strategy === "least-fragmenting" ? strandedBy(resource, demand) : 0;
    keys.set(resource, [taints, first, standingKey(strategy, resource, plan?.get(resource))]);
  }
  const indexed = strategy === own && strategy !== "least-fragmenting" && !tainted;
  if (indexed && (plan === undefined || plan.size === 0)) return all;
  const keyOf = (resource: Resource) => keys.get(resource) ?? [0, 0, 0];
  return all.sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || a.order - b.order;
  });
}
