/**
 * Reservations for starved requests: those that have run out of patience in a shared pool.
 *
 * A set of resources is chosen for such a request as if all who hold something now had given it back.
 * From then on, on each of them, whatever is lent to requests behind it must fit beside its share. So
 * once those leases have ended that held something there at that moment, it fits: it waits for its
 * patience and one more hold. Younger requests go on being served beside it. A starved request behind
 * it gets a reservation beside the first if there is room for both, and otherwise once its turn has
 * come: with k starved requests ahead, it waits for its patience and k + 1 holds at the most.
 */
import type { KeptRoom } from "../model/event.ts";
import { compareRank } from "../model/rank.ts";
import type { Pool, Request, SharedNeed, SharedResource } from "../model/state.ts";
import { amountOn, byKind, viewOf } from "./place.ts";
import type { Demand } from "./placement/demand.ts";
import { pickParts, shortfalls, type View } from "./placement/fit.ts";
import { place } from "./placement/plan.ts";

/** How many starved requests one decision tries again. */
const starvedMax = 50;

/** The reservations that can be made now for those who had none, eldest first. */
export function* retriedReservations(
  pool: Pool,
  state: { readonly fence: number },
): Generator<[Request, readonly KeptRoom[]], void, undefined> {
  if (pool.cache.triedReservations) return;
  pool.cache.triedReservations = true;
  for (const request of [...pool.starved].sort(compareRank).slice(0, starvedMax)) {
    const reservations = reservationsFor(request, state.fence);
    if (reservations.length > 0) yield [request, reservations];
  }
}

/** Room for all that it wants, or none: half of it would help nobody. */
export function reservationsFor(request: Request, since: number): KeptRoom[] {
  const reservations: KeptRoom[] = [];
  // Only for the best alternative: to reserve all of them would take too much from others.
  for (const need of request.alternatives[0] ?? []) {
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
  // The order is ours: none of the strategies asks how soon there will be room.
  const resources = soonestFirst(need, request);
  const sets = place({ strategy: "round-robin", resources }, demands, view);
  return sets?.flatMap((set, index) =>
    set.map((resource) => targetOn(resource, demands[index] as Demand, view)),
  );
}

function withoutStrategy(demand: Demand): Demand {
  const { strategy: _, ...placing } = demand.placing;
  return { ...demand, placing };
}

/** First the resources on which the least must still come free. */
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
  // Parts that nobody has come first: they need not come free.
  const idle = pickParts(resource, demand, { rank: view.rank, owner: view.owner });
  const parts = pickParts(resource, demand, { ...view, mine: new Set(idle) });
  return {
    resource: resource.name,
    amount: amountOn(resource, demand),
    ...(parts.length === 0 ? undefined : { parts: byKind(parts) }),
  };
}
