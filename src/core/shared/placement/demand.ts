import type { Strategy } from "../../model/strategies.ts";
import type { Amounts } from "./shareable.ts";
import type { Toleration } from "./taint.ts";

/** What an item may say of where it wants to be, beyond the pool. */
export interface Placing {
  /** From each resource that is chosen; parts are counted under the name of their kind. */
  readonly amount?: Amounts;
  /** Kinds of parts that are wanted only where there are any. */
  readonly optional?: readonly string[];
  /** Labels that the resource must have. */
  readonly selector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  /** Each of the resources has another value of this label. */
  readonly spread?: string;
  /** By label: how many different values the chosen resources may have together. */
  readonly atMost?: Readonly<Record<string, number>>;
  /** This very one. */
  readonly resource?: string;
  /** None of these. */
  readonly exclude?: readonly string[];
  readonly strategy?: Strategy;
}

/** `count` different resources, and the same amounts from each. */
export interface Demand {
  readonly count: number;
  /** Without zeros. */
  readonly amounts: readonly (readonly [name: string, amount: number])[];
  readonly placing: Placing;
}

export function demandOf(count: number, placing: Placing): Demand {
  const amounts = Object.entries(placing.amount ?? {}).filter(([, amount]) => amount > 0);
  return { count, amounts, placing };
}
