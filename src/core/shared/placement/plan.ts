/** Places several demands in one pool: all or none. */

import type { Strategy } from "../../model/strategies.ts";
import { type Budget, sets } from "./choose.ts";
import type { Demand } from "./demand.ts";
import { hasCapacity, type Plan, unfit, type View } from "./fit.ts";
import { levelOf, type Shareable } from "./shareable.ts";
import { inOrder } from "./strategy.ts";
import { penalty } from "./taint.ts";

/**
 * The budget of a search. A request that needs more counts as not placeable now: it waits, and
 * delays no other.
 */
export const searchMax = 10_000;

/** The resources of a pool, in the order of its own strategy. */
export interface Candidates<Resource extends Shareable = Shareable> {
  readonly strategy: Strategy;
  readonly resources: Iterable<Resource>;
}

/** Returns the resources of each demand; undefined if they cannot be placed. */
export function place<Resource extends Shareable>(
  pool: Candidates<Resource>,
  demands: readonly Demand[],
  view: View,
  budget: Budget = { left: searchMax },
): Resource[][] | undefined {
  const [only, ...more] = demands;
  if (only === undefined) return [];
  if (more.length === 0 && isSimple(only)) {
    const resource = firstFit(pool, only, view);
    return resource === undefined ? undefined : [[resource]];
  }
  return search(pool, demands, { ...view, planned: new Map() }, budget);
}

function isSimple({ count, placing }: Demand): boolean {
  return count === 1 && placing.atMost === undefined;
}

/**
 * Usually finds the first resource in the index, so a grant costs the same in a pool of any size.
 */
function firstFit<Resource extends Shareable>(
  { strategy, resources }: Candidates<Resource>,
  demand: Demand,
  view: View,
): Resource | undefined {
  const { strategy: wanted = strategy, tolerations } = demand.placing;
  const indexed = wanted === strategy && strategy !== "least-fragmenting";
  if (!indexed) {
    return inOrder(fitting(resources, demand, view), demand, strategy)[0];
  }
  const avoided: Resource[] = [];
  for (const resource of resources) {
    if (!isFitting(resource, demand, view)) continue;
    const { taints } = resource.spec;
    if (taints === undefined || penalty(taints, tolerations) === 0) return resource;
    avoided.push(resource);
  }
  return inOrder(avoided, demand, strategy)[0];
}

export function isFitting(resource: Shareable, demand: Demand, view: View): boolean {
  return unfit(resource, demand, view) === undefined && hasCapacity(resource, demand, view);
}

export function fitting<Resource extends Shareable>(
  resources: Iterable<Resource>,
  demand: Demand,
  view: View,
): Resource[] {
  const found: Resource[] = [];
  for (const resource of resources) if (isFitting(resource, demand, view)) found.push(resource);
  return found;
}

function search<Resource extends Shareable>(
  pool: Candidates<Resource>,
  [demand, ...others]: readonly Demand[],
  view: View & { readonly planned: Plan },
  budget: Budget,
): Resource[][] | undefined {
  if (demand === undefined) return [];
  const candidates = inOrder(
    fitting(pool.resources, demand, view),
    demand,
    pool.strategy,
    view.planned,
  );
  for (const chosen of sets(candidates, demand, budget)) {
    for (const resource of chosen) note(view.planned, resource, demand, 1);
    const rest = search(pool, others, view, budget);
    if (rest !== undefined) return [chosen, ...rest];
    for (const resource of chosen) note(view.planned, resource, demand, -1);
  }
  return undefined;
}

function note(plan: Plan, resource: Shareable, { amounts }: Demand, by: 1 | -1): void {
  const planned = plan.get(resource) ?? new Map<string, number>();
  plan.set(resource, planned);
  for (const [index, [name, amount]] of amounts.entries()) {
    if (levelOf(resource, name, index) === undefined) continue; // Parts are shared within a request.
    planned.set(name, (planned.get(name) ?? 0) + by * amount);
  }
}
