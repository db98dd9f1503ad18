import { useEffect, useMemo, useRef, useState } from "react";
import type { Pool } from "../../../src/api/schemas.ts";
import type { PoolTroubles } from "../data/troubles.ts";
import { calmed, inShownOrder, type Measured } from "./calm-order.ts";
import { measureOf, sortedBy } from "./pool-facts.ts";

interface Shown {
  readonly key: string;
  readonly names: readonly string[];
}

/**
 * The pools in their order, and what the element that shows them needs. No row moves while the pointer or
 * the focus is in it; another order or filter (`key`) is applied at once.
 */
export function useCalmOrder(
  pools: readonly Pool[],
  sort: string,
  { troubles, key }: { readonly troubles: PoolTroubles; readonly key: string },
) {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const measured = useRef<ReadonlyMap<string, Measured>>(new Map());
  const shown = useRef<Shown>(undefined);
  const rows = useMemo(() => {
    const values = new Map(pools.map((pool) => [pool.name, measureOf(pool, sort, troubles)]));
    // Other orders are what somebody has chosen, and say what they are.
    const known = sort === "trouble" ? measured.current : new Map<string, Measured>();
    const calm = calmed(known, values, Date.now());
    measured.current = calm;
    return sortedBy(pools, ({ name }) => calm.get(name)?.value ?? 0);
  }, [pools, sort, troubles]);
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
