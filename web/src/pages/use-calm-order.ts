import { useEffect, useMemo, useRef, useState } from "react";
import type { Pool } from "../../../src/api/schemas.ts";
import type { PoolTroubles } from "../data/pool-troubles.ts";
import { type Calm, calmed, inShownOrder } from "./calm-order.ts";
import { measureOf, sortedBy } from "./pool-facts.ts";

interface Shown {
  readonly key: string;
  readonly names: readonly string[];
}

/**
 * The pools in their order, and what the element that shows them needs. No row moves while the pointer or
 * the focus is in it; another order or filter (`key`) is applied at once.
 */
export function useCalmOrder<T extends Pool>(
  pools: readonly T[],
  sort: string,
  { troubles, key }: { readonly troubles: PoolTroubles; readonly key: string },
) {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const measured = useRef<Calm>(undefined);
  const shown = useRef<Shown>(undefined);
  const rows = useMemo(() => {
    const values = new Map(pools.map((pool) => [pool.name, measureOf(pool, sort, troubles)]));
    // Other orders are what somebody has chosen, and say what they are.
    const before = sort === "trouble" ? measured.current : undefined;
    const calm = calmed(before, { key, values }, Date.now());
    measured.current = calm;
    return sortedBy(pools, ({ name }) => calm.measured.get(name)?.value ?? 0);
  }, [pools, sort, troubles, key]);
  const before = shown.current;
  const isStill = (isPointed || isFocused) && before?.key === key;
  const inOrder = isStill ? inShownOrder(before.names, rows) : rows;
  useEffect(() => {
    shown.current = { key, names: inOrder.map(({ name }) => name) };
  });
  return {
    rows: inOrder,
    // A finger leaves nothing behind.
    onPointerEnter: (event: { pointerType: string }) => setPointed(event.pointerType === "mouse"),
    onPointerLeave: () => setPointed(false),
    onFocus: () => setFocused(true),
    onBlur: () => setFocused(false),
  };
}
