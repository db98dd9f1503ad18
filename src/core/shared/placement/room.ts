/**
 * A resource that many claims share: how much it has of each dimension, how much of that is lent or
 * kept for somebody, and the parts of it (networks, port groups) that are lent whole.
 */
import type { Ranked } from "../../queue/ranked-queue.ts";
import type { Taint } from "./taint.ts";

/** Of each dimension so much. Whole numbers. */
export type Amounts = Readonly<Record<string, number>>;

export type Attribute = string | number | boolean | readonly string[];

/** What the configuration says of a resource that is lent by amount. */
export interface RoomSpec {
  /** Its place in the definition: the first of equals is taken. */
  readonly index: number;
  readonly capacity: Amounts;
  /** By dimension, as written: a decimal. */
  readonly overcommit?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Only lent to those who ask for it by name. */
  readonly excluded?: true;
  /** By kind, the names of the parts that can be had on it. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** One dimension of one resource. */
export interface Level {
  readonly name: string;
  /** With overcommit. */
  readonly capacity: number;
  used: number;
}

/** Something countable that belongs to a pool and is lent whole, together with a resource that has it. */
export interface Part {
  readonly kind: string;
  readonly name: string;
  /** One claim never gets two parts that have this in common. */
  apart: string | undefined;
  attributes: Readonly<Record<string, Attribute>>;
  /** The lease, or the group of leases, that has it. */
  owner: string | null;
  /** How many claims of its owner use it. */
  uses: number;
  /** Those who wait for it and have run out of patience. */
  reservedFor: readonly Ranked[];
  /** Where it can be had. */
  readonly rooms: Set<Room>;
}

/** What is kept free for one who has run out of patience. */
export interface Reservation {
  readonly by: Ranked;
  /** The last fence given out before it was kept: claims with a larger one have come since. */
  readonly since: number;
  /** What of each dimension those have who have come since. */
  readonly taken: Map<string, number>;
  readonly amounts: readonly (readonly [name: string, amount: number])[];
}

/** As an element of its pool's index it stands in the order of the pool's strategy. */
export interface Room extends Ranked {
  priority: number;
  order: number;
  readonly at: RoomPlace;
  spec: RoomSpec;
  levels: readonly Level[];
  parts: ReadonlyMap<string, readonly Part[]>;
  reservations: readonly Reservation[];
  /** The fence of the last claim that was made on it. */
  lastFence: number;
}

/** The resource that the room belongs to, as far as placement must know it. */
export interface RoomPlace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Not lent for now. */
  readonly drained: boolean;
}

/** The dimension's level; `hint` is where it most likely stands. */
export function levelOf(room: Room, name: string, hint: number): Level | undefined {
  const level = room.levels[hint];
  if (level !== undefined && level.name === name) return level;
  return room.levels.find((other) => other.name === name);
}

/** Not less than 0, and 0 where there is nothing to lend. */
export function usageOf({ capacity, used }: Level): number {
  return capacity === 0 ? 0 : used / capacity;
}

/** The sum of the relative usages: each is one division of whole numbers, so that equals are equal. */
export function usageSum(room: Room, planned?: Planned): number {
  let sum = 0;
  for (const level of room.levels) {
    const more = planned?.get(level.name);
    sum += usageOf(more === undefined ? level : { ...level, used: level.used + more });
  }
  return sum;
}

/** What the same request has been given of a room already, in thought, by dimension. */
export type Planned = ReadonlyMap<string, number>;
