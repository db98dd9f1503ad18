/** What is red is what the list of needs attention names, so that both agree at any moment. */
import { useMemo } from "react";
import { useAnswer } from "./query.ts";
import { attention } from "./questions.ts";

/** The kinds of trouble of each pool that has some. */
export type PoolTroubles = ReadonlyMap<string, readonly string[]>;

export function usePoolTroubles(): PoolTroubles {
  const pools = useAnswer(attention).data?.pools;
  return useMemo(() => new Map(pools?.map(({ name, codes }) => [name, codes])), [pools]);
}

/** A request of the pool has waited for longer than usual. */
export function waitsTooLong(pool: string, troubles: PoolTroubles): boolean {
  return troubles.get(pool)?.includes("waits_long") ?? false;
}

/** Whether the list has one of these kinds. */
export function useNeedsAttention(...codes: readonly string[]): boolean {
  const { data } = useAnswer(attention);
  return data?.items.some(({ code }) => codes.includes(code)) ?? false;
}
