/** Small makers for tests of placement: rooms without a broker around them. */
import type { Placing, Strategy } from "./demand.ts";
import { demandOf } from "./demand.ts";
import type { View } from "./fit.ts";
import type { Rooms } from "./plan.ts";
import type { Amounts, Part, Room, RoomSpec } from "./room.ts";
import { standingKey } from "./strategy.ts";

export interface RoomText {
  readonly capacity: Amounts;
  readonly used?: Amounts;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<RoomSpec>;
  readonly drained?: boolean;
  readonly parts?: Readonly<Record<string, readonly Part[]>>;
}

export function room(name: string, text: RoomText, index = 0): Room {
  const { capacity, used = {}, labels = {}, drained = false, parts = {} } = text;
  return {
    priority: 0,
    order: index,
    spec: { index, capacity, ...text.spec },
    at: { name, labels, drained },
    levels: Object.entries(capacity).map(([level, most]) => {
      return { name: level, capacity: most, used: used[level] ?? 0 };
    }),
    parts: new Map(Object.entries(parts)),
    reservations: [],
    lastFence: 0,
  };
}

export function part(name: string, apart?: string): Part {
  const rooms = new Set<Room>();
  return {
    kind: "networks",
    name,
    apart,
    attributes: {},
    owner: null,
    uses: 0,
    reservedFor: [],
    rooms,
  };
}

/** In the order in which a pool of this strategy would keep them. */
export function poolOf(rooms: readonly Room[], strategy: Strategy = "least-used"): Rooms {
  const key = (one: Room) => standingKey(strategy, one);
  return { strategy, rooms: rooms.toSorted((a, b) => key(a) - key(b) || a.order - b.order) };
}

export const wanted = (placing: Placing, count = 1) => demandOf(count, placing);

/** Somebody who stands behind everybody else. */
export const anybody: View = { rank: { priority: 0, order: 1_000_000 }, owner: "me" };
