/** Where several demands of one pool go together: all of them, or none. */
import { type Budget, sets } from "./choose.ts";
import type { Demand, Strategy } from "./demand.ts";
import { hasRoom, type Plan, unfit, type View } from "./fit.ts";
import { levelOf, type Room } from "./room.ts";
import { inOrder } from "./strategy.ts";
import { penalty } from "./taint.ts";

/** A request that is so hard to place counts as not placeable now: it waits, it holds up nobody. */
export const searchMax = 10_000;

/** The rooms of a pool, in the order of its own strategy. */
export interface Rooms {
  readonly strategy: Strategy;
  readonly rooms: Iterable<Room>;
}

/** For each demand its rooms; undefined: not to be had. */
export function place(
  pool: Rooms,
  demands: readonly Demand[],
  view: View,
  budget: Budget = { left: searchMax },
): Room[][] | undefined {
  const [only, ...more] = demands;
  if (only === undefined) return [];
  if (more.length === 0 && isSimple(only)) {
    const room = firstFit(pool, only, view);
    return room === undefined ? undefined : [[room]];
  }
  return search(pool, demands, { ...view, planned: new Map() }, budget);
}

function isSimple({ count, placing }: Demand): boolean {
  return count === 1 && placing.atMost === undefined;
}

/** Mostly the very first in the index, so that a grant costs the same in a pool of any size. */
function firstFit({ strategy, rooms }: Rooms, demand: Demand, view: View): Room | undefined {
  const { strategy: wanted = strategy, tolerations } = demand.placing;
  const indexed = wanted === strategy && strategy !== "least-fragmenting";
  if (!indexed) {
    return inOrder(fitting(rooms, demand, view), demand, strategy)[0];
  }
  const avoided: Room[] = [];
  for (const room of rooms) {
    if (!isFitting(room, demand, view)) continue;
    const { taints } = room.spec;
    if (taints === undefined || penalty(taints, tolerations) === 0) return room;
    avoided.push(room);
  }
  return inOrder(avoided, demand, strategy)[0];
}

export function isFitting(room: Room, demand: Demand, view: View): boolean {
  return unfit(room, demand, view) === undefined && hasRoom(room, demand, view);
}

export function fitting(rooms: Iterable<Room>, demand: Demand, view: View): Room[] {
  const found: Room[] = [];
  for (const room of rooms) if (isFitting(room, demand, view)) found.push(room);
  return found;
}

function search(
  pool: Rooms,
  [demand, ...others]: readonly Demand[],
  view: View & { readonly planned: Plan },
  budget: Budget,
): Room[][] | undefined {
  if (demand === undefined) return [];
  const candidates = inOrder(
    fitting(pool.rooms, demand, view),
    demand,
    pool.strategy,
    view.planned,
  );
  for (const chosen of sets(candidates, demand, budget)) {
    for (const room of chosen) note(view.planned, room, demand, 1);
    const rest = search(pool, others, view, budget);
    if (rest !== undefined) return [chosen, ...rest];
    for (const room of chosen) note(view.planned, room, demand, -1);
  }
  return undefined;
}

function note(plan: Plan, room: Room, { amounts }: Demand, by: 1 | -1): void {
  const planned = plan.get(room) ?? new Map<string, number>();
  plan.set(room, planned);
  for (const [index, [name, amount]] of amounts.entries()) {
    if (levelOf(room, name, index) === undefined) continue; // Parts are shared within a request.
    planned.set(name, (planned.get(name) ?? 0) + by * amount);
  }
}
