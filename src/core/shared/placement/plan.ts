/** Places several demands in one pool: all or none. */

import type { Strategy } from "../../model/strategies.ts";
import { type Budget, sets } from "./choose.ts";
import type { Demand } from "./demand.ts";
import { hasCapacity, type Plan, unfit, type View } from "./fit.ts";
import { levelOf, type Shareable } from "./shareable.ts";
import { inOrder } from "./strategy.ts";
import { penalty } from "./taint.ts";

/** The budget of the largest search, and of all searches of one decision: some 50 ms. */
export const searchMax = 300_000;

/** Of a search beyond what it takes to try each resource once: for those that did not do. */
const secondTries = 10_000;

/**
 * The budget of a search that goes well, twice, and some more. A request that needs more counts as not placeable now: it
 * waits, and delays no other.
 */
export function budgetFor(demands: readonly Demand[], resources: number): Budget {
  const rounds = demands.reduce((sum, { count }) => sum + count, 0);
  return { left: Math.min(searchMax, secondTries + 4 * rounds * resources) };
}

/** The resources of a pool, in the order of its own strategy. */
export interface Candidates<Resource extends Shareable = Shareable> {
  readonly strategy: Strategy;
  readonly resources: Iterable<Resource>;
}

/** Returns the resources of each demand; undefined if they cannot be placed, or if the budget ends before. */
export function place<Resource extends Shareable>(
  pool: Candidates<Resource>,
  demands: readonly Demand[],
  view: View,
  budget?: Budget,
): Resource[][] | undefined {
  const [only] = demands;
  if (only === undefined) return [];
  if (!isSearched(demands)) {
    const resource = firstFit(pool, only, view);
    return resource === undefined ? undefined : [[resource]];
  }
  const resources = [...pool.resources];
  const { length } = resources;
  const planned = new Map();
  return search(
    { ...pool, resources },
    demands,
    { ...view, planned },
    budget ?? budgetFor(demands, length),
  );
}

/** Whether there is more to do than to take the first resource that fits. */
export function isSearched([only, ...more]: readonly Demand[]): boolean {
  return only !== undefined && (more.length > 0 || !isSimple(only));
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

interface Listed<Resource extends Shareable> extends Candidates<Resource> {
  readonly resources: readonly Resource[];
}

function search<Resource extends Shareable>(
  pool: Listed<Resource>,
  [demand, ...others]: readonly Demand[],
  view: View & { readonly planned: Plan },
  budget: Budget,
): Resource[][] | undefined {
  if (demand === undefined) return [];
  if (budget.left <= 0) return undefined;
  budget.left -= 3 * pool.resources.length; // They are also sorted.
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
