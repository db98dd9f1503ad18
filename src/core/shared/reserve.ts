/**
 * Reservations for impatient requests: their patience in a shared pool is over. (Starved is a space, see
 * `decide/starved.ts`.)
 *
 * The broker chooses resources for such a request as if all current leases had ended. From then on,
 * grants to requests behind it must fit next to its reservation on each of these resources. When
 * the leases of that time have ended, the request fits. So it waits for its patience and one more
 * hold, while younger requests are still granted. An impatient request behind it gets a reservation
 * too if there is room for both, otherwise when it is first. With k impatient requests ahead, it
 * waits for at most its patience and k + 1 holds.
 */
import type { KeptRoom } from "../model/event.ts";
import { bestAlternative } from "../model/quota.ts";
import { compareRank } from "../model/rank.ts";
import type { Pool, Request, SharedNeed, SharedResource } from "../model/state.ts";
import { amountOn, byKind, viewOf } from "./place.ts";
import type { Demand } from "./placement/demand.ts";
import { pickParts, shortfalls, type View } from "./placement/fit.ts";
import { budgetFor, place, searchMax } from "./placement/plan.ts";

/** The number of impatient requests that one decision tries again. */
const impatientMax = 50;

/** Makes reservations for impatient requests that have none, oldest first. */
export function* retriedReservations(
  pool: Pool,
  state: { readonly fence: number },
): Generator<[Request, readonly KeptRoom[]], void, undefined> {
  if (pool.cache.triedReservations) return;
  pool.cache.triedReservations = true;
  for (const request of [...pool.impatient].sort(compareRank).slice(0, impatientMax)) {
    const reservations = reservationsFor(request, state.fence);
    if (reservations.length > 0) yield [request, reservations];
  }
}

/** Reserves room for all needs, or nothing: a part of them would not help. */
export function reservationsFor(request: Request, since: number): KeptRoom[] {
  const reservations: KeptRoom[] = [];
  // Only for one alternative, because reservations for all would take too much from others.
  for (const need of bestAlternative(request)) {
    if (need.sharing === "exclusive") continue;
    const found = reservationsOf(need, request);
    if (found === undefined) return [];
    reservations.push(...found.map((one) => ({ ...one, since })));
  }
  return reservations;
}

type Target = Omit<KeptRoom, "since">;

function reservationsOf(need: SharedNeed, request: Request): Target[] | undefined {
  const view = { ...viewOf(need, request), later: true as const };
  const demands = need.demands.map(withoutStrategy);
  // Uses its own order, because no strategy knows how soon there will be room.
  const resources = soonestFirst(need, request);
  // Each has the same part, so that one that is hard to place takes nothing from the others.
  const budget = {
    left: Math.min(budgetFor(demands, resources.length).left, searchMax / impatientMax),
  };
  const sets = place({ strategy: "round-robin", resources }, demands, view, budget);
  return sets?.flatMap((set, index) =>
    set.map((resource) => targetOn(resource, demands[index] as Demand, view)),
  );
}

function withoutStrategy(demand: Demand): Demand {
  const { strategy: _, ...placing } = demand.placing;
  return { ...demand, placing };
}

/** Sorts resources: first those on which the least must be released. */
function soonestFirst({ pool, demands, owner }: SharedNeed, request: Request): SharedResource[] {
  const missingOn = (resource: SharedResource) => {
    let sum = 0;
    for (const demand of demands) {
      for (const { asked, free } of shortfalls(resource, demand, { rank: request, owner })) {
        sum += (asked - free) / asked;
      }
    }
    return sum;
  };
  const all = Array.from(pool.shared, (resource) => ({ resource, missing: missingOn(resource) }));
  all.sort((a, b) => a.missing - b.missing || a.resource.order - b.resource.order);
  return all.map(({ resource }) => resource);
}

function targetOn(resource: SharedResource, demand: Demand, view: View): Target {
  // Prefers free parts, because the request need not wait for their release.
  const idle = pickParts(resource, demand, { rank: view.rank, owner: view.owner });
  const parts = pickParts(resource, demand, { ...view, mine: new Set(idle) });
  return {
    resource: resource.name,
    amount: amountOn(resource, demand),
    ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
  };
}
