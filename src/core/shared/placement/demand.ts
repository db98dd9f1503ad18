import type { Strategy } from "../../model/strategies.ts";
import type { Amounts } from "./shareable.ts";
import type { Toleration } from "./taint.ts";

/** The rules of an item for the choice of resources in a pool. */
export interface Placing {
  /** The amount from each chosen resource. Parts are counted under the name of their kind. */
  readonly amount?: Amounts;
  /** Kinds of parts that are needed only if the resource has any. */
  readonly optional?: readonly string[];
  /** Labels that the resource must have. */
  readonly selector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  /** Each chosen resource has another value of this label. */
  readonly spread?: string;
  /** The maximum number of different values of each label among the chosen resources. */
  readonly atMost?: Readonly<Record<string, number>>;
  /** Only the resource of this name. */
  readonly resource?: string;
  /** Not the resources of these names. */
  readonly exclude?: readonly string[];
  readonly strategy?: Strategy;
}

/** `count` different resources, and the same amounts from each. */
export interface Demand {
  readonly count: number;
  /** Amounts of 0 are left out. */
  readonly amounts: readonly (readonly [name: string, amount: number])[];
  readonly placing: Placing;
}

export function demandOf(count: number, placing: Placing): Demand {
  const amounts = Object.entries(placing.amount ?? {}).filter(([, amount]) => amount > 0);
  return { count, amounts, placing };
}
