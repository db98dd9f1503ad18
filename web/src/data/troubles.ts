/** What is red is what the list of needs attention names, so that both agree at any moment. */
import { useMemo } from "react";
import type { PoolTroubles } from "./pool-troubles.ts";
import { useAnswer } from "./query.ts";
import { attention } from "./questions.ts";

export function usePoolTroubles(): PoolTroubles {
  const pools = useAnswer(attention).data?.pools;
  return useMemo(() => new Map(pools?.map(({ name, codes }) => [name, codes])), [pools]);
}

/** Whether the list has one of these kinds. */
export function useNeedsAttention(...codes: readonly string[]): boolean {
  const { data } = useAnswer(attention);
  return data?.items.some(({ code }) => codes.includes(code)) ?? false;
}
