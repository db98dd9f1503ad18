/**
 * Refuses requests for amounts that even empty resources could never serve. Drained resources
 * count, because they may be lent again.
 */
import type { PoolName } from "../model/ids.ts";
import { nearestMatch } from "../model/nearest-match.ts";
import type { Refusal } from "../model/outcome.ts";
import { aheadOfAll } from "../model/rank.ts";
import type { Pool, SharedNeed, SharedResource } from "../model/state.ts";
import { candidatesOf } from "./place.ts";
import { type Budget, mostAtOnce } from "./placement/choose.ts";
import type { Demand } from "./placement/demand.ts";
import { shortfalls, unfit, type View } from "./placement/fit.ts";
import { place, searchMax } from "./placement/plan.ts";
import { levelOf, type Shareable } from "./placement/shareable.ts";

const empty: View = { rank: aheadOfAll, owner: "", empty: true };

/** With no request ahead, no reservation counts. */
const first: View = { rank: aheadOfAll, owner: "" };

export function neverPlaced({ pool, demands }: SharedNeed): Refusal | undefined {
  for (const demand of demands) {
    const refusal = choiceRefused(pool, demand);
    if (refusal !== undefined) return refusal;
  }
  // The usual case: the request fits now.
  if (place(candidatesOf(pool), demands, first) !== undefined) return undefined;
  const resources = [...pool.members].filter(
    (resource): resource is SharedResource => resource.sharing === "shared" && !resource.retired,
  );
  resources.sort((a, b) => a.order - b.order);
  const budget = { left: searchMax };
  for (const demand of demands) {
    const refusal = neverOne(pool, resources, demand, budget);
    if (refusal !== undefined) return refusal;
  }
  if (demands.length < 2) return undefined;
  const found = place({ strategy: "round-robin", resources }, demands, empty, budget);
  // A search that ran out of budget proves nothing, so the request is not refused.
  if (found !== undefined || budget.left <= 0) return undefined;
  return { code: "never_fits_together", pool: pool.name, items: demands.length };
}

function choiceRefused({ name, policy }: Pool, { placing }: Demand): Refusal | undefined {
  const { strategy } = placing;
  const { strategy: own, choices = [] } = policy.placement ?? {};
  if (strategy === undefined || strategy === own || choices.includes(strategy)) return undefined;
  const known = [...(own === undefined ? [] : [own]), ...choices];
  return { code: "strategy_not_allowed", pool: name, strategy, known };
}

function neverOne(
  { name: pool }: Pool,
  resources: readonly Shareable[],
  demand: Demand,
  budget: Budget,
): Refusal | undefined {
  const eligible = resources.filter((resource) => unfit(resource, demand, empty) === undefined);
  const enough = eligible.filter((resource) => shortfalls(resource, demand, empty).length === 0);
  if (eligible.length > 0 && enough.length === 0) return tooLarge(pool, eligible, demand);
  const possible = mostAtOnce(enough, demand, budget);
  if (possible >= demand.count) return undefined;
  const reasons = new Map<string, number>();
  for (const resource of resources) {
    const why = unfit(resource, demand, empty)?.why;
    if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  const meant = nearestMatch(resources, demand.placing);
  return {
    code: "too_few_eligible",
    pool,
    asked: demand.count,
    possible,
    large: enough.length,
    eligible: eligible.length,
    total: resources.length,
    unfit: Object.fromEntries(reasons),
    ...(meant === undefined ? undefined : { nearest: meant }),
  };
}

/**
 * Finds a dimension that is too large for every resource or, if there is none, one that is too
 * large for the resource with the fewest shortfalls.
 */
function tooLarge(
  pool: PoolName,
  eligible: readonly Shareable[],
  demand: Demand,
): Refusal | undefined {
  for (const [index, [dimension, asked]] of demand.amounts.entries()) {
    const largest = Math.max(
      ...eligible.map((resource) => mostOf(resource, demand, dimension, index)),
    );
    if (largest < asked) return { code: "amount_too_large", pool, dimension, asked, largest };
  }
  const nearest = eligible.toSorted(
    (a, b) => shortfalls(a, demand, empty).length - shortfalls(b, demand, empty).length,
  )[0];
  const [short] = nearest === undefined ? [] : shortfalls(nearest, demand, empty);
  if (nearest === undefined || short === undefined) return undefined;
  const { dimension, asked, free: largest } = short;
  const resource = nearest.name;
  return { code: "amount_too_large", pool, dimension, asked, largest, resource };
}

function mostOf(resource: Shareable, demand: Demand, dimension: string, hint: number): number {
  const level = levelOf(resource, dimension, hint);
  if (level !== undefined) return level.capacity;
  const short = shortfalls(resource, demand, empty).find((one) => one.dimension === dimension);
  return short?.free ?? Number.POSITIVE_INFINITY;
}
