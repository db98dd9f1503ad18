/** In which order resources are tried. A lower key comes first; equals go by definition. */
import type { Demand, Strategy } from "./demand.ts";
import { type Planned, type Room, usageOf, usageSum } from "./room.ts";
import { penalty } from "./taint.ts";

/**
 * What a pool's index is kept in order of. `least-fragmenting` depends on the request, so its index
 * has the order that it falls back to between equals: the fullest first.
 */
export function standingKey(strategy: Strategy, room: Room, planned?: Planned): number {
  switch (strategy) {
    case "least-used":
      return usageSum(room, planned);
    case "pack":
    case "least-fragmenting":
      return -usageSum(room, planned);
    case "round-robin":
      return room.lastFence;
  }
}

/**
 * How much of a resource could no longer be used for want of another dimension: by how much the
 * others are freer than the scarcest. Counted as the change that the request would make.
 */
export function strandedBy(room: Room, demand: Demand): number {
  // Rounded: what is equal but for the noise of fractions must go by the next rule.
  return Math.round((stranded(room, demand) - stranded(room, undefined)) * 1e9);
}

function stranded(room: Room, demand: Demand | undefined): number {
  let [sum, least] = [0, 1];
  for (const level of room.levels) {
    const asked = demand?.amounts.find(([name]) => name === level.name)?.[1] ?? 0;
    const free = 1 - usageOf({ ...level, used: level.used + asked });
    sum += free;
    least = Math.min(least, free);
  }
  return sum - least * room.levels.length;
}

/** The rooms in the order in which this demand wants them; those that ask it to go elsewhere last. */
export function inOrder(
  rooms: Iterable<Room>,
  demand: Demand,
  own: Strategy,
  plan?: ReadonlyMap<Room, Planned>,
): Room[] {
  const { strategy = own, tolerations } = demand.placing;
  const all = [...rooms];
  const keys = new Map<Room, readonly [number, number, number]>();
  let tainted = false;
  for (const room of all) {
    const taints = room.spec.taints === undefined ? 0 : penalty(room.spec.taints, tolerations);
    if (taints > 0) tainted = true;
    const first = strategy === "least-fragmenting" ? strandedBy(room, demand) : 0;
    keys.set(room, [taints, first, standingKey(strategy, room, plan?.get(room))]);
  }
  const indexed = strategy === own && strategy !== "least-fragmenting" && !tainted;
  if (indexed && (plan === undefined || plan.size === 0)) return all;
  const keyOf = (room: Room) => keys.get(room) ?? [0, 0, 0];
  return all.sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || a.order - b.order;
  });
}
