/**
 * A resource that many claims share: its capacity in each dimension, the lent and reserved amounts,
 * and its parts (networks, port groups), which are lent exclusively.
 */
import type { Rank } from "../../model/rank.ts";
import type { Taint } from "./taint.ts";

/** An amount of each dimension. Whole numbers. */
export type Amounts = Readonly<Record<string, number>>;

export type Attribute = string | number | boolean | readonly string[];

/** The configuration of a shared resource. */
export interface CapacitySpec {
  /** Its position in the configuration. Of equal resources the first is taken. */
  readonly index: number;
  readonly capacity: Amounts;
  /** A decimal for each dimension, as written. */
  readonly overcommit?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Lent only to requests that name it. */
  readonly excluded?: true;
  /** The names of its parts, by kind. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** One dimension of one resource. */
export interface Level {
  readonly name: string;
  /** The capacity with overcommit. */
  readonly capacity: number;
  readonly used: number;
}

/** A named part of a pool that is lent exclusively, together with a resource that has it. */
export interface Part {
  readonly kind: string;
  readonly name: string;
  /** One claim never gets two parts with the same value. */
  readonly apart: string | undefined;
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The lease, or group of leases, that holds it. */
  readonly owner: string | null;
  /** The number of its owner's claims that use it. */
  readonly uses: number;
  /** The impatient requests for which it is reserved. */
  readonly reservedFor: readonly Rank[];
  /** The resources that have it. */
  readonly resources: ReadonlySet<Shareable>;
}

/** The reservation on one resource for an impatient request. */
export interface Reservation {
  readonly by: Rank;
  /** The last fence before the reservation. Later claims have a larger one. */
  readonly since: number;
  /** The amount of each dimension that later claims have taken. */
  readonly taken: ReadonlyMap<string, number>;
  readonly amounts: readonly (readonly [name: string, amount: number])[];
}

/** The fields of a shared resource that placement reads. */
export interface Shareable {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Not lent for now. */
  readonly drained: boolean;
  readonly spec: CapacitySpec;
  readonly levels: readonly Level[];
  readonly parts: ReadonlyMap<string, readonly Part[]>;
  readonly reservations: readonly Reservation[];
  /** The fence of the last claim that was made on it. */
  readonly lastFence: number;
  /** Its position in the order of the pool's strategy: smallest first, then by configuration. */
  readonly standing: number;
  readonly order: number;
}

export function compareStanding(a: Standing, b: Standing): number {
  return a.standing - b.standing || a.order - b.order;
}

export type Standing = Pick<Shareable, "standing" | "order">;

/** The level of a dimension; `hint` is its probable index. */
export function levelOf(
  { levels }: Pick<Shareable, "levels">,
  name: string,
  hint: number,
): Level | undefined {
  const level = levels[hint];
  if (level !== undefined && level.name === name) return level;
  return levels.find((other) => other.name === name);
}

/** The used share, at least 0; 0 if the capacity is 0. */
export function usageOf({ capacity, used }: Level): number {
  return capacity === 0 ? 0 : used / capacity;
}

/**
 * The sum of the used shares. Each is one division of whole numbers, so equal resources get equal
 * sums.
 */
export function usageSum({ levels }: Pick<Shareable, "levels">, planned?: Planned): number {
  let sum = 0;
  for (const level of levels) {
    const more = planned?.get(level.name);
    sum += usageOf(more === undefined ? level : { ...level, used: level.used + more });
  }
  return sum;
}

/** The amounts that the plan for the same request already uses, by dimension. */
export type Planned = ReadonlyMap<string, number>;
