/**
 * A resource that many claims share: how much it has of each dimension, how much of that is lent or
 * reserved, and its parts (networks, port groups), which are lent whole.
 */
import type { Rank } from "../../model/rank.ts";
import type { Taint } from "./taint.ts";

/** Of each dimension so much. Whole numbers. */
export type Amounts = Readonly<Record<string, number>>;

export type Attribute = string | number | boolean | readonly string[];

/** What the configuration says of a shared resource. */
export interface CapacitySpec {
  /** Its place in the definition: the first of equals is taken. */
  readonly index: number;
  readonly capacity: Amounts;
  /** By dimension, as written: a decimal. */
  readonly overcommit?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Only lent to requests that ask for it by name. */
  readonly excluded?: true;
  /** By kind, the names of the parts that it has. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

/** One dimension of one resource. */
export interface Level {
  readonly name: string;
  /** With overcommit. */
  readonly capacity: number;
  readonly used: number;
}

/** Something countable that belongs to a pool and is lent whole, with a resource that has it. */
export interface Part {
  readonly kind: string;
  readonly name: string;
  /** One claim never gets two parts that have this in common. */
  readonly apart: string | undefined;
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The lease, or the group of leases, that has it. */
  readonly owner: string | null;
  /** How many claims of its owner use it. */
  readonly uses: number;
  /** The starved requests that it is reserved for. */
  readonly reservedFor: readonly Rank[];
  /** Where it can be had. */
  readonly resources: ReadonlySet<Shareable>;
}

/** What is reserved on one resource for a starved request. */
export interface Reservation {
  readonly by: Rank;
  /** The last fence given out before it was made: claims with a larger one have come since. */
  readonly since: number;
  /** What of each dimension those have who have come since. */
  readonly taken: ReadonlyMap<string, number>;
  readonly amounts: readonly (readonly [name: string, amount: number])[];
}

/** As much of a shared resource as placement must know. */
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
  /** Its place in the order of the pool's strategy: the smallest first, then by definition. */
  readonly standing: number;
  readonly order: number;
}

export function compareStanding(a: Standing, b: Standing): number {
  return a.standing - b.standing || a.order - b.order;
}

export type Standing = Pick<Shareable, "standing" | "order">;

/** The dimension's level; `hint` is where it most likely stands. */
export function levelOf(
  { levels }: Pick<Shareable, "levels">,
  name: string,
  hint: number,
): Level | undefined {
  const level = levels[hint];
  if (level !== undefined && level.name === name) return level;
  return levels.find((other) => other.name === name);
}

/** Not less than 0, and 0 where there is nothing to lend. */
export function usageOf({ capacity, used }: Level): number {
  return capacity === 0 ? 0 : used / capacity;
}

/** The sum of the relative usages: each is one division of whole numbers, so that equals are equal. */
export function usageSum({ levels }: Pick<Shareable, "levels">, planned?: Planned): number {
  let sum = 0;
  for (const level of levels) {
    const more = planned?.get(level.name);
    sum += usageOf(more === undefined ? level : { ...level, used: level.used + more });
  }
  return sum;
}

/** What the plan of the same request uses of a resource already, by dimension. */
export type Planned = ReadonlyMap<string, number>;
